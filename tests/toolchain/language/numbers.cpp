// Prints what the language computes on the host, one `name value` a line, and dumps conversions of every bit pattern.
#include "porter/language.h"

#include <cuComplex.h>
#include <cuda_fp8.h>
#include <curand_kernel.h>

namespace {

void show(const char* name, double value) { std::printf("%s %.17g\n", name, value); }
void bits(const char* name, unsigned long long value) { std::printf("%s %llu\n", name, value); }

template <class T>
void dump(const char* folder, const char* name, const std::vector<T>& values) {
    std::ofstream file(std::string(folder) + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), std::streamsize(values.size() * sizeof(T)));
}

// Floats around every 16-bit number and its halfway points, and a walk over all exponents.
std::vector<float> difficult_floats() {
    std::vector<float> floats;
    for (unsigned int pattern = 0; pattern < 0x10000; ++pattern) {
        for (unsigned int low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x2000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
            floats.push_back(__uint_as_float(pattern << 16 | low));
    }
    return floats;
}

void conversions(const char* folder) {
    std::vector<float> from_half(0x10000), from_bfloat16(0x10000), from_e4m3(0x100), from_e5m2(0x100);
    for (unsigned int i = 0; i < 0x10000; ++i) {
        from_half[i] = __half2float(__ushort_as_half((unsigned short)i));
        from_bfloat16[i] = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
    }
    for (unsigned int i = 0; i < 0x100; ++i) {
        __nv_fp8_e4m3 e4m3;
        __nv_fp8_e5m2 e5m2;
        e4m3.__x = e5m2.__x = (unsigned char)i;
        from_e4m3[i] = float(e4m3), from_e5m2[i] = float(e5m2);
    }
    const std::vector<float> floats = difficult_floats();
    std::vector<unsigned short> halves, bfloats;
    std::vector<unsigned char> e4m3s, e5m2s;
    for (float x : floats) {
        halves.push_back(__half_as_ushort(__float2half_rn(x)));
        bfloats.push_back(__bfloat16_as_ushort(__float2bfloat16_rn(x)));
        e4m3s.push_back(__nv_fp8_e4m3(x).__x);
        e5m2s.push_back(__nv_fp8_e5m2(x).__x);
    }
    dump(folder, "half", from_half), dump(folder, "bfloat16", from_bfloat16);
    dump(folder, "e4m3", from_e4m3), dump(folder, "e5m2", from_e5m2);
    dump(folder, "floats", floats), dump(folder, "to_half", halves), dump(folder, "to_bfloat16", bfloats);
    dump(folder, "to_e4m3", e4m3s), dump(folder, "to_e5m2", e5m2s);
}

// Pairs and triples of halves: sums, products, quotients and fused products, each rounded once.
void arithmetic(const char* folder) {
    std::vector<unsigned short> operands, sums, products, quotients, fused;
    unsigned int state = 1;
    for (int i = 0; i < 100000; ++i) {
        __half v[3];
        for (__half& x : v) {
            state = state * 1664525u + 1013904223u;
            x = __ushort_as_half((unsigned short)(state >> 16));
            operands.push_back(__half_as_ushort(x));
        }
        sums.push_back(__half_as_ushort(v[0] + v[1])), products.push_back(__half_as_ushort(v[0] * v[1]));
        quotients.push_back(__half_as_ushort(v[0] / v[1])), fused.push_back(__half_as_ushort(__hfma(v[0], v[1], v[2])));
    }
    dump(folder, "operands", operands), dump(folder, "sums", sums), dump(folder, "products", products);
    dump(folder, "quotients", quotients), dump(folder, "fused", fused);
}

// Pairs of 8-bit floats made of pairs of 16-bit ones: how many differ from two made one by one.
void pairs() {
    int wrong = 0;
    for (unsigned int i = 0; i < 0x10000; ++i) {
        const unsigned short low = (unsigned short)i, high = (unsigned short)(i * 40503u);
        for (auto kind : {__NV_E4M3, __NV_E5M2}) {
            auto half = [&](unsigned short x) { return __nv_cvt_halfraw_to_fp8(__half_raw{x}, __NV_SATFINITE, kind); };
            auto wide = [&](unsigned short x) {
                return __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x}, __NV_SATFINITE, kind);
            };
            wrong += __nv_cvt_halfraw2_to_fp8x2({low, high}, __NV_SATFINITE, kind) != (half(low) | half(high) << 8);
            wrong += __nv_cvt_bfloat16raw2_to_fp8x2({low, high}, __NV_SATFINITE, kind) != (wide(low) | wide(high) << 8);
        }
    }
    show("wrong_pairs", wrong);
}

void mathematics() {
    show("erfinv(0.3)", erfinv(0.3)), show("erfcinv(1e-10)", erfcinv(1e-10)), show("normcdfinv(0.975)", normcdfinv(0.975));
    show("normcdf(1)", normcdf(1.0)), show("sinpi(1)", sinpi(1.0)), show("cospi(0.5)", cospi(0.5)), show("sinpi(0.25)", sinpi(0.25));
    show("rsqrtf(4)", rsqrtf(4.0f)), show("exp10f(2)", exp10f(2.0f)), show("__powf(-2,2)", __powf(-2.0f, 2.0f));
    show("__saturatef(nan)", __saturatef(CUDART_NAN_F)), show("fminf(nan,1)", fminf(CUDART_NAN_F, 1.0f));
    show("max(nan,1)", max(CUDART_NAN_F, 1.0f)), show("max(-1,1u)", max(-1, 1u)), show("erfcx(30)", erfcx(30.0));
    show("__fadd_rz", __fadd_rz(1.0f, -1e-9f)), show("__fadd_ru", __fadd_ru(1.0f, 1e-9f)), show("__fdiv_rd", __fdiv_rd(1.0f, 3.0f));
    show("__fdiv_ru", __fdiv_ru(1.0f, 3.0f)), show("__fmaf_rz", __fmaf_rz(1.0f, 1.0f, -1e-9f)), show("__fsqrt_ru", __fsqrt_ru(2.0f));
    show("__float2int_rn(2.5)", __float2int_rn(2.5f)), show("__float2int_rz(3e9)", __float2int_rz(3e9f));
    show("__float2uint_ru(-1)", __float2uint_ru(-1.0f)), show("__float2int_rn(nan)", __float2int_rn(CUDART_NAN_F));
    show("__int2float_rz", __int2float_rz(16777219)), show("__int2float_ru", __int2float_ru(16777217));
    show("__double2float_ru", __double2float_ru(1.0 + 1e-12)), show("__hiloint2double", __hiloint2double(0x3ff00000, 0));
    show("cuCabsf", cuCabsf(make_cuComplex(3.0f, 4.0f))), show("cuCdivf", cuCrealf(cuCdivf(make_cuComplex(1, 1), make_cuComplex(1, -1))));
}

void integers() {
    bits("__brev(1)", __brev(1)), bits("__clz(0)", __clz(0)), bits("__clzll(1)", __clzll(1)), bits("__ffs(0)", __ffs(0));
    bits("__ffsll(1<<40)", __ffsll(1ll << 40)), bits("__popcll(-1)", __popcll(~0ull)), bits("__mulhi", (unsigned)__mulhi(-2, 3));
    bits("__umulhi", __umulhi(0xffffffffu, 2)), bits("__mul24", (unsigned)__mul24(-3, 5)), bits("__sad(-3,4,1)", __sad(-3, 4, 1));
    bits("__byte_perm", __byte_perm(0x33221100, 0x77665544, 0x7531)), bits("__byte_perm_sign", __byte_perm(0x80, 0, 0x8888));
    bits("__funnelshift_l", __funnelshift_l(0x80000000u, 1, 1)), bits("__funnelshift_rc", __funnelshift_rc(1, 7, 40));
    bits("__dp4a", (unsigned)__dp4a(0x01ff0203, 0x01010101, 10)), bits("__dp4a_u", __dp4a(0x01ff0203u, 0x01010101u, 10u));
    bits("__fns", __fns(0x16, 0, 2)), bits("__uhadd", __uhadd(0xffffffffu, 1)), bits("__umul64hi", __umul64hi(1ull << 63, 4));
}

void layouts() {
    bits("sizeof(float3)", sizeof(float3)), bits("alignof(float4)", alignof(float4)), bits("alignof(double4)", alignof(double4));
    bits("alignof(short3)", alignof(short3)), bits("alignof(uchar4)", alignof(uchar4)), bits("sizeof(longlong4)", sizeof(longlong4));
    bits("alignof(__half2)", alignof(__half2)), bits("sizeof(dim3)", sizeof(dim3)), bits("dim3(2).y", dim3(2).y);
}

void random_numbers() {
    curandStatePhilox4_32_10_t philox;
    curand_init(1234, 5, 0, &philox);
    const uint4 first = curand4(&philox);
    bits("philox.x", first.x), bits("philox.w", first.w);
    curandStatePhilox4_32_10_t later;
    curand_init(1234, 5, 3, &later);
    bits("philox.skipped", curand(&later) == first.w);
    curandState a, b;
    curand_init(7, 0, 0, &a), curand_init(7, 1, 0, &b);
    bits("sequences.differ", curand(&a) != curand(&b));
    curandState far;
    curand_init(0x123456789ABCDEFull, (1ull << 40) + 77, (1ull << 33) + 1, &far);
    bits("xorwow.first", curand(&far)), bits("xorwow.second", curand(&far));
    double mean = 0, square = 0;
    for (int i = 0; i < 20000; ++i) {
        const double x = curand_normal(&a);
        mean += x / 20000, square += x * x / 20000;
    }
    show("normal.mean", mean), show("normal.variance", square);
}

}  // namespace

int main(int, char** arguments) {
    conversions(arguments[1]);
    arithmetic(arguments[1]);
    pairs(), mathematics(), integers(), layouts(), random_numbers();
}
