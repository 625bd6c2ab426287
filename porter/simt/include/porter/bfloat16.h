// `__nv_bfloat16`: the upper half of a float, as <cuda_bf16.h> offers it.
#pragma once

#include "porter/half.h"
#include "porter/narrow_float.h"
#include "porter/narrow_names.h"

#define NARROW __nv_bfloat16
#define NARROW2 __nv_bfloat162
#define NARROW_RAW __nv_bfloat16_raw
#define NARROW2_RAW __nv_bfloat162_raw
#define NARROW_ENCODE float_to_bfloat16
#define NARROW_DECODE bfloat16_to_float
#include "porter/narrow_type.inc"
#include "porter/narrow_arithmetic.inc"
#undef NARROW_DECODE
#undef NARROW_ENCODE
#undef NARROW2_RAW
#undef NARROW_RAW
#undef NARROW2
#undef NARROW

PORTER_NARROW_NAMES(__nv_bfloat16, __nv_bfloat162, bfloat16)
PORTER_NARROW_LIMITS(__nv_bfloat16, 8, 0x0080, 0xff7f, 0x7f7f, 0x3c00, 0x0001, 0x7f80)

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define CUDART_INF_BF16 __nv_bfloat16::from_bits(0x7f80u)
#define CUDART_NAN_BF16 __nv_bfloat16::from_bits(0x7fffu)
#define CUDART_MIN_DENORM_BF16 __nv_bfloat16::from_bits(0x0001u)
#define CUDART_MAX_NORMAL_BF16 __nv_bfloat16::from_bits(0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __nv_bfloat16::from_bits(0x8000u)
#define CUDART_ZERO_BF16 __nv_bfloat16::from_bits(0x0000u)
#define CUDART_ONE_BF16 __nv_bfloat16::from_bits(0x3f80u)
