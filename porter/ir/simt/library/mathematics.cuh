// CUDA's functions of numbers that are made of others. Those of floats compute in double and round once.
#define OF_FLOAT(name) __device__ float name##f(float x) { return (float)name((double)x); }
#define OF_FLOATS(name) __device__ float name##f(float x, float y) { return (float)name((double)x, (double)y); }

__device__ double rcbrt(double x) { return 1.0 / cbrt(x); }
__device__ double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
__device__ double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
__device__ double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
__device__ double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
__device__ double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
__device__ double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
__device__ float norm3df(float a, float b, float c) {
    return (float)sqrt((double)a * a + (double)b * b + (double)c * c);
}
__device__ float norm4df(float a, float b, float c, float d) {
    return (float)sqrt((double)a * a + (double)b * b + ((double)c * c + (double)d * d));
}
__device__ float rnorm3df(float a, float b, float c) {
    return (float)(1.0 / sqrt((double)a * a + (double)b * b + (double)c * c));
}
__device__ float rnorm4df(float a, float b, float c, float d) {
    return (float)(1.0 / sqrt((double)a * a + (double)b * b + ((double)c * c + (double)d * d)));
}
OF_FLOAT(rcbrt)
OF_FLOATS(rhypot)
__device__ float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
__device__ float __tanhf(float x) { return tanhf(x); }

// Multiples of pi: the number of quarter turns is taken off, so that zeros and ones are exact.
__device__ double __quarters(double x, int turned) {
    const double quarters = rint(2.0 * x);
    const double angle = 3.141592653589793 * (x - 0.5 * quarters);
    const int place = (int)(quarters - 4.0 * floor(0.25 * quarters)) + turned & 3;
    const double length = place & 1 ? cos(angle) : sin(angle);
    return place & 2 ? -length : length;
}
__device__ double sinpi(double x) { return isinf(x) ? x - x : __quarters(x, 0); }
__device__ double cospi(double x) { return isinf(x) ? x - x : __quarters(x, 1); }
OF_FLOAT(sinpi)
OF_FLOAT(cospi)
__device__ void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x), *cosine = cospi(x); }
__device__ void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }

// The normal distribution and the error function's relatives. The inverse is Giles' approximation and two steps of
// Newton's; far out erfcx is its asymptotic series.
__device__ double normcdf(double x) { return 0.5 * erfc(-0.7071067811865476 * x); }
__device__ double erfinv(double x) {
    const double a = fabs(x), w = -log((1.0 - a) * (1.0 + a)), u = w - 2.5, v = sqrt(w) - 3.0;
    double p = (2.81022636e-08 * u + 3.43273939e-07) * u - 3.5233877e-06;
    p = ((p * u - 4.39150654e-06) * u + 0.00021858087) * u - 0.00125372503;
    p = ((p * u - 0.00417768164) * u + 0.246640727) * u + 1.50140941;
    double q = (-0.000200214257 * v + 0.000100950558) * v + 0.00134934322;
    q = ((q * v - 0.00367342844) * v + 0.00573950773) * v - 0.0076224613;
    q = ((q * v + 0.00943887047) * v + 1.00167406) * v + 2.83297682;
    double z = a * (w < 5.0 ? p : q);
    z = z + (erfc(z) - (1.0 - a)) * 0.8862269254527580 * exp(z * z);
    z = z + (erfc(z) - (1.0 - a)) * 0.8862269254527580 * exp(z * z);
    return x == 0.0 ? x : copysign(a == 1.0 ? __longlong_as_double(0x7ff0000000000000ll) : z, x);
}
__device__ double erfcinv(double x) { return erfinv(1.0 - x); }
__device__ double normcdfinv(double x) { return 1.4142135623730951 * erfinv(2.0 * x - 1.0); }
__device__ double erfcx(double x) {
    const double near = exp(x * x) * erfc(x), s = 0.5 / (x * x);
    const double series = 1.0 - s * (1.0 - 3.0 * s * (1.0 - 5.0 * s * (1.0 - 7.0 * s * (1.0 - 9.0 * s))));
    return x < 20.0 ? near : series * 0.5641895835477563 / x;
}
OF_FLOAT(normcdf)
OF_FLOAT(erfinv)
OF_FLOAT(erfcinv)
OF_FLOAT(normcdfinv)
OF_FLOAT(erfcx)
// The gamma function, by Lanczos' sum (g = 7), mirrored below one half.
__device__ double __gamma_above(double z) {
    const double y = z - 1.0, t = y + 7.5;
    double sum = 0.99999999999980993 + 676.5203681218851 / (y + 1.0) - 1259.1392167224028 / (y + 2.0);
    sum += 771.32342877765313 / (y + 3.0) - 176.61502916214059 / (y + 4.0) + 12.507343278686905 / (y + 5.0);
    sum += 9.9843695780195716e-6 / (y + 7.0) - 0.13857109526572012 / (y + 6.0) + 1.5056327351493116e-7 / (y + 8.0);
    return exp(0.9189385332046727 + (y + 0.5) * log(t) - t + log(sum));
}
__device__ double tgamma(double x) {
    if (x < 0.0 && floor(x) == x) return __longlong_as_double(0x7ff8000000000000ll);
    if (isinf(x)) return x;
    const double y = __gamma_above(x < 0.5 ? 1.0 - x : x);
    return x < 0.5 ? 3.141592653589793 / (sinpi(x) * y) : y;
}
OF_FLOAT(tgamma)

// The parts of a number.
__device__ int signbit(float x) { return __float_as_int(x) < 0; }
__device__ int signbit(double x) { return __double_as_longlong(x) < 0; }
__device__ double __power_of_two(int n) { return __longlong_as_double((long long)(n + 1023) << 52); }
__device__ double ldexp(double x, int n) {
    const int most = n > 2100 ? 2100 : n < -2100 ? -2100 : n;
    const int part = most / 3;
    return x * __power_of_two(part) * __power_of_two(part) * __power_of_two(most - 2 * part);
}
__device__ float ldexpf(float x, int n) {
    return (float)((double)x * __power_of_two(n > 400 ? 400 : n < -400 ? -400 : n));
}
__device__ double scalbn(double x, int n) { return ldexp(x, n); }
__device__ float scalbnf(float x, int n) { return ldexpf(x, n); }
__device__ double scalbln(double x, long n) { return ldexp(x, (int)max(-5000L, min(n, 5000L))); }
__device__ float scalblnf(float x, long n) { return ldexpf(x, (int)max(-5000L, min(n, 5000L))); }
__device__ bool isnormal(float x) { return fabsf(x) >= 1.17549435e-38f && isfinite(x); }
__device__ bool isnormal(double x) { return fabs(x) >= 2.2250738585072014e-308 && isfinite(x); }
__device__ int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__device__ int __double2loint(double x) { return (int)__double_as_longlong(x); }
__device__ double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)high << 32 | (unsigned int)low);
}
__device__ float nextafterf(float x, float y) {
    if (isnan(x) || isnan(y)) return x + y;
    if (x == y) return y;
    if (x == 0.0f) return copysignf(__int_as_float(1), y);
    return __int_as_float(__float_as_int(x) + ((x < y) == (x > 0.0f) ? 1 : -1));
}
__device__ double nextafter(double x, double y) {
    if (isnan(x) || isnan(y)) return x + y;
    if (x == y) return y;
    if (x == 0.0) return copysign(__longlong_as_double(1), y);
    return __longlong_as_double(__double_as_longlong(x) + ((x < y) == (x > 0.0) ? 1 : -1));
}
__device__ int __exponent(double x) {  // of a number that is neither zero nor infinite
    const int normal = (int)(__double_as_longlong(x) >> 52) & 0x7ff;
    return normal ? normal - 1023 : ((int)(__double_as_longlong(x * 18014398509481984.0) >> 52) & 0x7ff) - 1077;
}
__device__ double frexp(double x, int* exponent) {
    const bool whole = x == 0.0 || isinf(x) || isnan(x);
    *exponent = whole ? 0 : __exponent(x) + 1;
    return whole ? x : ldexp(x, -__exponent(x) - 1);
}
__device__ float frexpf(float x, int* exponent) { return (float)frexp((double)x, exponent); }
__device__ double logb(double x) {
    if (x == 0.0) return -__longlong_as_double(0x7ff0000000000000ll);
    return isinf(x) || isnan(x) ? x * x : (double)__exponent(x);
}
__device__ int ilogb(double x) { return x == 0.0 || isnan(x) ? -2147483647 - 1 : isinf(x) ? 2147483647 : __exponent(x); }
__device__ int ilogbf(float x) { return ilogb((double)x); }
OF_FLOAT(logb)
__device__ double modf(double x, double* whole) {
    *whole = trunc(x);
    return copysign(isinf(x) ? 0.0 : x - trunc(x), x);
}
__device__ float modff(float x, float* whole) {
    *whole = truncf(x);
    return copysignf(isinf(x) ? 0.0f : x - truncf(x), x);
}
__device__ double remainder(double x, double y) {
    const double divisor = fabs(y);
    double rest = fmod(fabs(x), divisor);
    if (isinf(x) || y == 0.0 || isnan(x) || isnan(y)) return x * y - x * y;
    const bool odd = fmod(fabs(x), 2.0 * divisor) >= divisor;
    const double missing = divisor - rest;
    rest = rest > missing || (rest == missing && odd) ? -missing : rest;
    return signbit(x) ? -rest : rest;
}
OF_FLOATS(remainder)

// Integers.
__device__ int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
__device__ unsigned int __uhadd(unsigned int a, unsigned int b) { return (a & b) + ((a ^ b) >> 1); }
__device__ unsigned int __urhadd(unsigned int a, unsigned int b) { return (a | b) - ((a ^ b) >> 1); }
__device__ unsigned int __sad(int a, int b, unsigned int sum) {
    return (a < b ? (unsigned int)b - (unsigned int)a : (unsigned int)a - (unsigned int)b) + sum;
}
__device__ unsigned int __usad(unsigned int a, unsigned int b, unsigned int sum) { return (a < b ? b - a : a - b) + sum; }
__device__ unsigned int __chosen_byte(unsigned long long bytes, unsigned int selector) {
    const unsigned int byte = (unsigned int)(bytes >> 8 * (selector & 7)) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte;
}
__device__ unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selectors) {
    const unsigned long long bytes = (unsigned long long)high << 32 | low;
    return __chosen_byte(bytes, selectors) | __chosen_byte(bytes, selectors >> 4) << 8 |
           __chosen_byte(bytes, selectors >> 8) << 16 | __chosen_byte(bytes, selectors >> 12) << 24;
}
__device__ unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
    return (unsigned int)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
__device__ unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int by) {
    return by < 32 ? __funnelshift_l(low, high, by) : low;
}
__device__ unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (by & 31));
}
__device__ unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int by) {
    return by < 32 ? __funnelshift_r(low, high, by) : high;
}
__device__ int __dp4a(int a, int b, int sum) {
    return sum + (signed char)a * (signed char)b + (signed char)(a >> 8) * (signed char)(b >> 8) +
           (signed char)(a >> 16) * (signed char)(b >> 16) + (a >> 24) * (b >> 24);
}
__device__ unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int sum) {
    return sum + (a & 0xff) * (b & 0xff) + (a >> 8 & 0xff) * (b >> 8 & 0xff) + (a >> 16 & 0xff) * (b >> 16 & 0xff) +
           (a >> 24) * (b >> 24);
}
__device__ int __dp2a_lo(int a, int b, int sum) {
    return sum + (short)a * (signed char)b + (a >> 16) * (signed char)(b >> 8);
}
__device__ int __dp2a_hi(int a, int b, int sum) { return __dp2a_lo(a, b >> 16, sum); }
__device__ unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int sum) {
    return sum + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
__device__ unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int sum) { return __dp2a_lo(a, b >> 16, sum); }
// A float next to the nearest one, where that lies on the other side of the number: `by` is 1 away from zero, -1 towards it.
__device__ float __porter_stepped(float nearest, int by) { return __int_as_float(__float_as_int(nearest) + by); }
#define TO_FLOAT(name, Number)                                                                                       \
    __device__ float __##name##2float_rz(Number x) {                                                                 \
        float nearest = (float)x;                                                                                    \
        return fabs((double)nearest) > fabs((double)x) ? __porter_stepped(nearest, -1) : nearest;                    \
    }                                                                                                                \
    __device__ float __##name##2float_rd(Number x) {                                                                 \
        float nearest = (float)x;                                                                                    \
        return (double)nearest > (double)x ? __porter_stepped(nearest, nearest > 0.f ? -1 : 1) : nearest;            \
    }                                                                                                                \
    __device__ float __##name##2float_ru(Number x) {                                                                 \
        float nearest = (float)x;                                                                                    \
        return (double)nearest < (double)x ? __porter_stepped(nearest, nearest < 0.f ? -1 : 1) : nearest;            \
    }
TO_FLOAT(int, int)
TO_FLOAT(uint, unsigned int)
TO_FLOAT(double, double)
#undef TO_FLOAT
#undef OF_FLOAT
#undef OF_FLOATS
