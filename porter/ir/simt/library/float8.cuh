// CUDA's 8-bit floats and their vectors: bytes, rounded to nearest and saturated by the classes, and converted through halves.
typedef unsigned char __nv_fp8_storage_t;
typedef int __nv_fp8_interpretation_t;
typedef int __nv_saturation_t;
constexpr int __NV_E4M3 = 0;
constexpr int __NV_E5M2 = 1;
constexpr int __NV_NOSAT = 0;
constexpr int __NV_SATFINITE = 1;

typedef __half __half_raw;

// `largest` is the byte of the largest number, `beyond` the one of what exceeds it.
__device__ unsigned char __nv_fp8_rounded(float value, int digits, int least, int largest, int beyond) {
    const float magnitude = fminf(fabsf(value), 131072.0f);
    const int bits = __float_as_int(magnitude);
    const int cut = 23 - digits;
    const int middle = (1 << (cut - 1)) - 1 - ((126 + least) << 23);
    const int regular = (bits + middle + ((bits >> cut) & 1)) >> cut;
    const int anchor = (127 + cut + least) << 23;  // added to it, a small number is rounded to multiples of the least
    const int small = __float_as_int(magnitude + __int_as_float(anchor)) - anchor;
    const int rounded = bits < ((127 + least) << 23) ? small : regular;
    const int byte = (rounded > largest ? beyond : rounded) | ((__float_as_int(value) >> 24) & 0x80);
    return value != value ? 0x7f : byte;
}
__device__ unsigned char __nv_fp8_byte(float value, int saturate, int kind) {
    if (kind == __NV_E4M3) return __nv_fp8_rounded(value, 3, -6, 0x7e, saturate == __NV_SATFINITE ? 0x7e : 0x7f);
    return __nv_fp8_rounded(value, 2, -14, 0x7b, saturate == __NV_SATFINITE ? 0x7b : 0x7c);
}
// A float that rounds on to fewer digits as the double does: its last digit is set where digits were lost.
__device__ float __nv_fp8_cut(double value) {
    const float near = (float)value;
    const int bits = __float_as_int(near);
    const int odd = (bits - (fabs((double)near) > fabs(value) ? 1 : 0)) | 1;
    return __int_as_float((double)near == value ? bits : odd);
}
__device__ __half __nv_fp8_half(unsigned char byte, int kind) {
    if (kind == __NV_E5M2) return __ushort_as_half((unsigned short)(byte << 8));
    const int magnitude = byte & 0x7f;
    const float number = __half2float(__ushort_as_half((unsigned short)(magnitude << 7))) * 256.0f;
    const int whole = magnitude == 0x7f ? 0x7e00 : (int)__half_as_ushort(__float2half(number));
    return __ushort_as_half((unsigned short)(whole | ((byte & 0x80) << 8)));
}

__device__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, int saturate, int kind) {
    return __nv_fp8_byte(value, saturate, kind);
}
__device__ __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, int saturate, int kind) {
    return __nv_fp8_byte(__nv_fp8_cut(value), saturate, kind);
}
__device__ __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half value, int saturate, int kind) {
    return __nv_fp8_byte(__half2float(value), saturate, kind);
}
__device__ __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16 value, int saturate, int kind) {
    return __nv_fp8_byte(__bfloat162float(value), saturate, kind);
}
__device__ __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t byte, int kind) {
    return __nv_fp8_half(byte, kind);
}

struct __nv_fp8_e4m3 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e4m3() = default;
    __device__ __nv_fp8_e4m3(float value) { __x = __nv_fp8_byte(value, __NV_SATFINITE, __NV_E4M3); }
    __device__ __nv_fp8_e4m3(double value) { __x = __nv_fp8_byte(__nv_fp8_cut(value), __NV_SATFINITE, __NV_E4M3); }
    __device__ operator float() const { return __half2float(__nv_fp8_half(__x, __NV_E4M3)); }
};
struct __nv_fp8_e5m2 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e5m2() = default;
    __device__ __nv_fp8_e5m2(float value) { __x = __nv_fp8_byte(value, __NV_SATFINITE, __NV_E5M2); }
    __device__ __nv_fp8_e5m2(double value) { __x = __nv_fp8_byte(__nv_fp8_cut(value), __NV_SATFINITE, __NV_E5M2); }
    __device__ operator float() const { return __half2float(__nv_fp8_half(__x, __NV_E5M2)); }
};

#define FLOAT8_VECTORS(KIND, ENCODING)                                                                         \
    struct __nv_fp8x2_##KIND {                                                                                 \
        unsigned short __x;                                                                                    \
        __nv_fp8x2_##KIND() = default;                                                                         \
        __device__ __nv_fp8x2_##KIND(float2 value) {                                                           \
            __x = __nv_fp8_byte(value.x, __NV_SATFINITE, ENCODING)                                             \
                | __nv_fp8_byte(value.y, __NV_SATFINITE, ENCODING) << 8;                                       \
        }                                                                                                      \
        __device__ float part(int at) const { return __half2float(__nv_fp8_half(__x >> 8 * at, ENCODING)); }   \
        __device__ operator float2() const { return make_float2(part(0), part(1)); }                           \
    };                                                                                                         \
    struct __nv_fp8x4_##KIND {                                                                                 \
        unsigned __x;                                                                                          \
        __nv_fp8x4_##KIND() = default;                                                                         \
        __device__ __nv_fp8x4_##KIND(float4 value) {                                                           \
            __x = (unsigned)__nv_fp8_byte(value.x, __NV_SATFINITE, ENCODING)                                   \
                | (unsigned)__nv_fp8_byte(value.y, __NV_SATFINITE, ENCODING) << 8                              \
                | (unsigned)__nv_fp8_byte(value.z, __NV_SATFINITE, ENCODING) << 16                             \
                | (unsigned)__nv_fp8_byte(value.w, __NV_SATFINITE, ENCODING) << 24;                            \
        }                                                                                                      \
        __device__ float part(int at) const { return __half2float(__nv_fp8_half(__x >> 8 * at, ENCODING)); }   \
        __device__ operator float4() const { return make_float4(part(0), part(1), part(2), part(3)); }         \
    };
FLOAT8_VECTORS(e4m3, __NV_E4M3)
FLOAT8_VECTORS(e5m2, __NV_E5M2)
