// The language in MACA's and its other brand's spelling.
#pragma once

#include "porter/language.h"
#include "porter/math_constants.h"

#include "porter/maca_spelling.h"
