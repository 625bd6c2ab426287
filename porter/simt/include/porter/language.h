// The language that CUDA and MACA sources are compiled against, whole.
#pragma once

#include "porter/standard.h"

#include "porter/keywords.h"

#include "porter/atomics.h"
#include "porter/barriers.h"
#include "porter/bfloat16.h"
#include "porter/cache.h"
#include "porter/conversion.h"
#include "porter/device.h"
#include "porter/half.h"
#include "porter/integer.h"
#include "porter/math.h"
#include "porter/math_constants.h"
#include "porter/math_fast.h"
#include "porter/math_yardstick.h"
#include "porter/ptx.h"
#include "porter/runtime.h"
#include "porter/vector_types.h"
#include "porter/warp_functions.h"
