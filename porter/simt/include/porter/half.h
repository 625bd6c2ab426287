// `half`: IEEE binary16, as <cuda_fp16.h> offers it.
#pragma once

#include "porter/narrow_float.h"
#include "porter/narrow_names.h"

#define NARROW __half
#define NARROW2 __half2
#define NARROW_RAW __half_raw
#define NARROW2_RAW __half2_raw
#define NARROW_ENCODE float_to_half
#define NARROW_DECODE half_to_float
#include "porter/narrow_type.inc"
#include "porter/narrow_arithmetic.inc"
#undef NARROW_DECODE
#undef NARROW_ENCODE
#undef NARROW2_RAW
#undef NARROW_RAW
#undef NARROW2
#undef NARROW

PORTER_NARROW_NAMES(__half, __half2, half)
PORTER_NARROW_LIMITS(__half, 11, 0x0400, 0xfbff, 0x7bff, 0x1400, 0x0001, 0x7c00)

using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#define CUDART_INF_FP16 __half::from_bits(0x7c00u)
#define CUDART_NAN_FP16 __half::from_bits(0x7fffu)
#define CUDART_MIN_DENORM_FP16 __half::from_bits(0x0001u)
#define CUDART_MAX_NORMAL_FP16 __half::from_bits(0x7bffu)
#define CUDART_NEG_ZERO_FP16 __half::from_bits(0x8000u)
#define CUDART_ZERO_FP16 __half::from_bits(0x0000u)
#define CUDART_ONE_FP16 __half::from_bits(0x3c00u)
