// Included behind the precompiled header of a double-precision build: from here on, the user's `float` is `double`.
//
// The shim headers follow by porter::Float and math_yardstick.h; limits follow here.
#pragma once

#define float double

#undef FLT_MAX
#undef FLT_MIN
#undef FLT_EPSILON
#undef FLT_DIG
#undef FLT_MANT_DIG
#define FLT_MAX DBL_MAX
#define FLT_MIN DBL_MIN
#define FLT_EPSILON DBL_EPSILON
#define FLT_DIG DBL_DIG
#define FLT_MANT_DIG DBL_MANT_DIG
