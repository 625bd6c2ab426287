// Complex numbers of <cuComplex.h>, as pairs; divisions are scaled by the divisor's size as porter's executor does it.
typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;
typedef float cufftReal;  // those of <cufft.h>
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;

#define COMPLEX(C, R, SUFFIX)                                                                                  \
    __device__ C make_##C(R re, R im) {                                                                        \
        C z;                                                                                                   \
        z.x = re;                                                                                              \
        z.y = im;                                                                                              \
        return z;                                                                                              \
    }                                                                                                          \
    __device__ R cuCreal##SUFFIX(C z) { return z.x; }                                                          \
    __device__ R cuCimag##SUFFIX(C z) { return z.y; }                                                          \
    __device__ C cuConj##SUFFIX(C z) { return make_##C(z.x, -z.y); }                                           \
    __device__ C cuCadd##SUFFIX(C a, C b) { return make_##C(a.x + b.x, a.y + b.y); }                           \
    __device__ C cuCsub##SUFFIX(C a, C b) { return make_##C(a.x - b.x, a.y - b.y); }                           \
    __device__ C cuCmul##SUFFIX(C a, C b) {                                                                    \
        return make_##C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                         \
    }                                                                                                          \
    __device__ C cuCfma##SUFFIX(C a, C b, C c) { return cuCadd##SUFFIX(cuCmul##SUFFIX(a, b), c); }             \
    __device__ R cuCabs##SUFFIX(C z) { return hypot(z.x, z.y); }                                               \
    __device__ C cuCdiv##SUFFIX(C a, C b) {                                                                    \
        const R scale = (R)1 / (fabs(b.x) + fabs(b.y));                                                        \
        const R top = a.x * scale, under = a.y * scale, x = b.x * scale, y = b.y * scale;                      \
        const R inverse = (R)1 / (x * x + y * y);                                                              \
        return make_##C((top * x + under * y) * inverse, (under * x - top * y) * inverse);                     \
    }
COMPLEX(cuFloatComplex, float, f)
COMPLEX(cuDoubleComplex, double, )
__device__ cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
__device__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
__device__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return make_cuFloatComplex(z.x, z.y); }
