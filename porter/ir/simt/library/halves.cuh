// Functions of halves and of pairs of them that are made of others, as <cuda_fp16.h> and <cuda_bf16.h> have them.
#define OF_PAIRS(H, PAIR, WORD)                                                                     \
    __device__ PAIR __lows2##WORD(PAIR a, PAIR b) { return PAIR(a.x, b.x); }                        \
    __device__ PAIR __highs2##WORD(PAIR a, PAIR b) { return PAIR(a.y, b.y); }                       \
    __device__ PAIR __low2##WORD(PAIR a) { return PAIR(a.x, a.x); }                                 \
    __device__ PAIR __high2##WORD(PAIR a) { return PAIR(a.y, a.y); }                                \
    __device__ PAIR __lowhigh2highlow(PAIR a) { return PAIR(a.y, a.x); }                            \
    __device__ H __hadd_sat(H a, H b) { return (H)__saturatef((float)a + (float)b); }               \
    __device__ H __hsub_sat(H a, H b) { return (H)__saturatef((float)a - (float)b); }               \
    __device__ H __hmul_sat(H a, H b) { return (H)__saturatef((float)a * (float)b); }               \
    __device__ H __hfma_sat(H a, H b, H c) { return (H)__saturatef((float)__hfma(a, b, c)); }       \
    __device__ H __hmax_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }  \
    __device__ H __hmin_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }  \
    __device__ H __hfma_relu(H a, H b, H c) { return __hmax_nan(__hfma(a, b, c), (H)0.0f); }        \
    OF_EACH(H, PAIR, __hadd, _sat)                                                                  \
    OF_EACH(H, PAIR, __hsub, _sat)                                                                  \
    OF_EACH(H, PAIR, __hmul, _sat)                                                                  \
    OF_EACH(H, PAIR, __hmax, _nan)                                                                  \
    OF_EACH(H, PAIR, __hmin, _nan)                                                                  \
    __device__ PAIR __hfma2_sat(PAIR a, PAIR b, PAIR c) {                                           \
        return PAIR(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));                          \
    }                                                                                               \
    __device__ PAIR __hfma2_relu(PAIR a, PAIR b, PAIR c) {                                          \
        return PAIR(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));                        \
    }                                                                                               \
    OF_COMPARISON(PAIR, eq)                                                                         \
    OF_COMPARISON(PAIR, ne)                                                                         \
    OF_COMPARISON(PAIR, lt)                                                                         \
    OF_COMPARISON(PAIR, le)                                                                         \
    OF_COMPARISON(PAIR, gt)                                                                         \
    OF_COMPARISON(PAIR, ge)                                                                         \
    OF_ONE(PAIR, exp)                                                                               \
    OF_ONE(PAIR, exp2)                                                                              \
    OF_ONE(PAIR, exp10)                                                                             \
    OF_ONE(PAIR, log)                                                                               \
    OF_ONE(PAIR, log2)                                                                              \
    OF_ONE(PAIR, log10)                                                                             \
    OF_ONE(PAIR, sqrt)                                                                              \
    OF_ONE(PAIR, rsqrt)                                                                             \
    OF_ONE(PAIR, rcp)                                                                               \
    OF_ONE(PAIR, sin)                                                                               \
    OF_ONE(PAIR, cos)                                                                               \
    OF_ONE(PAIR, tanh)                                                                              \
    OF_ONE(PAIR, ceil)                                                                              \
    OF_ONE(PAIR, floor)                                                                             \
    OF_ONE(PAIR, trunc)                                                                             \
    OF_ONE(PAIR, rint)
#define OF_EACH(H, PAIR, NAME, END) \
    __device__ PAIR NAME##2##END(PAIR a, PAIR b) { return PAIR(NAME##END(a.x, b.x), NAME##END(a.y, b.y)); }
#define OF_COMPARISON(PAIR, WORD) \
    __device__ bool __hb##WORD##2(PAIR a, PAIR b) { return __h##WORD(a.x, b.x) && __h##WORD(a.y, b.y); }
#define OF_ONE(PAIR, WORD) \
    __device__ PAIR h2##WORD(PAIR a) { return PAIR(h##WORD(a.x), h##WORD(a.y)); }
OF_PAIRS(__half, __half2, half2)
OF_PAIRS(__nv_bfloat16, __nv_bfloat162, bfloat162)
#undef OF_PAIRS
#undef OF_EACH
#undef OF_COMPARISON
#undef OF_ONE
