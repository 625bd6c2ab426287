// The language in CUDA's own spelling, which is that of these headers.
#pragma once

#include "porter/language.h"
