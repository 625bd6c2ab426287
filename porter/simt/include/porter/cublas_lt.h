// cuBLASLt's types, for programs that declare them; its products are refused.
#pragma once

#include "porter/cublas.h"

using cublasLtHandle_t = struct cublasLtContext*;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque_t*;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t*;
struct cublasLtMatmulAlgo_t {
    unsigned long long data[8];
};
struct cublasLtMatmulHeuristicResult_t {
    cublasLtMatmulAlgo_t algo;
    std::size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
};
enum cublasLtEpilogue_t {
    CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_RELU = 2, CUBLASLT_EPILOGUE_BIAS = 4, CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 36, CUBLASLT_EPILOGUE_GELU_AUX = 160, CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
    CUBLASLT_EPILOGUE_DGELU = 192, CUBLASLT_EPILOGUE_BGRADB = 512,
};
enum cublasLtMatmulDescAttributes_t {
    CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4, CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
    CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 10,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 11, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
};
enum cublasLtMatrixLayoutAttribute_t {
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return *handle = nullptr, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
#define PORTER_REFUSED(name) \
    template <class... Arguments> \
    inline cublasStatus_t name(Arguments&&...) { \
        return CUBLAS_STATUS_NOT_SUPPORTED; \
    }
PORTER_REFUSED(cublasLtMatmul)
PORTER_REFUSED(cublasLtMatmulDescCreate)
PORTER_REFUSED(cublasLtMatmulDescDestroy)
PORTER_REFUSED(cublasLtMatmulDescSetAttribute)
PORTER_REFUSED(cublasLtMatrixLayoutCreate)
PORTER_REFUSED(cublasLtMatrixLayoutDestroy)
PORTER_REFUSED(cublasLtMatrixLayoutSetAttribute)
PORTER_REFUSED(cublasLtMatmulPreferenceCreate)
PORTER_REFUSED(cublasLtMatmulPreferenceDestroy)
PORTER_REFUSED(cublasLtMatmulPreferenceSetAttribute)
PORTER_REFUSED(cublasLtMatmulAlgoGetHeuristic)
#undef PORTER_REFUSED
