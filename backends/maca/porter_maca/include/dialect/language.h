// The language in MACA's and its other brand's spelling. MACA's compiler is a clang, and sources ask for that.
#pragma once

#include "porter/language.h"

#include "dialect/spelling.h"

#ifndef __clang__
#define __clang__ 1
#define __clang_major__ 14
#define __clang_minor__ 0
#define __clang_patchlevel__ 0
#define __has_feature(name) 0
#define __has_extension(name) 0
#endif
