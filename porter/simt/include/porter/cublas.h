// cuBLAS as far as programs use it to check themselves: dense products and a few vector functions, on the host.
//
// Matrices are column-major. Products are summed in double, so a program's own kernel is held against a better answer.
#pragma once

#include <cmath>

#include "porter/bfloat16.h"
#include "porter/library.h"

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
};
enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32I = 72,
};
enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1 = 1, CUBLAS_GEMM_ALGO2 = 2, CUBLAS_GEMM_ALGO3 = 3, CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5, CUBLAS_GEMM_ALGO6 = 6, CUBLAS_GEMM_ALGO7 = 7, CUBLAS_GEMM_ALGO8 = 8, CUBLAS_GEMM_ALGO9 = 9,
    CUBLAS_GEMM_ALGO10 = 10, CUBLAS_GEMM_ALGO11 = 11, CUBLAS_GEMM_ALGO12 = 12, CUBLAS_GEMM_ALGO13 = 13,
    CUBLAS_GEMM_ALGO14 = 14, CUBLAS_GEMM_ALGO15 = 15, CUBLAS_GEMM_ALGO16 = 16, CUBLAS_GEMM_ALGO17 = 17,
    CUBLAS_GEMM_ALGO18 = 18, CUBLAS_GEMM_ALGO19 = 19, CUBLAS_GEMM_ALGO20 = 20, CUBLAS_GEMM_ALGO21 = 21,
    CUBLAS_GEMM_ALGO22 = 22, CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100, CUBLAS_GEMM_ALGO1_TENSOR_OP = 101, CUBLAS_GEMM_ALGO2_TENSOR_OP = 102,
    CUBLAS_GEMM_ALGO3_TENSOR_OP = 103, CUBLAS_GEMM_ALGO4_TENSOR_OP = 104, CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
    CUBLAS_GEMM_ALGO6_TENSOR_OP = 106, CUBLAS_GEMM_ALGO7_TENSOR_OP = 107, CUBLAS_GEMM_ALGO8_TENSOR_OP = 108,
    CUBLAS_GEMM_ALGO9_TENSOR_OP = 109, CUBLAS_GEMM_ALGO10_TENSOR_OP = 110, CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
    CUBLAS_GEMM_ALGO12_TENSOR_OP = 112, CUBLAS_GEMM_ALGO13_TENSOR_OP = 113, CUBLAS_GEMM_ALGO14_TENSOR_OP = 114,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
};
using cublasHandle_t = struct cublasContext*;

namespace porter {

// Element i of an array whose type is known at run time.
inline double read_element(const void* array, cudaDataType type, long long i) {
    switch (type) {
        case CUDA_R_64F: return static_cast<const double*>(array)[i];
        case CUDA_R_16F: return float(static_cast<const __half*>(array)[i]);
        case CUDA_R_16BF: return float(static_cast<const __nv_bfloat16*>(array)[i]);
        case CUDA_R_8I: return static_cast<const signed char*>(array)[i];
        case CUDA_R_32I: return static_cast<const int*>(array)[i];
        default: return static_cast<const Float*>(array)[i];
    }
}
inline void write_element(void* array, cudaDataType type, long long i, double value) {
    switch (type) {
        case CUDA_R_64F: static_cast<double*>(array)[i] = value; break;
        case CUDA_R_16F: static_cast<__half*>(array)[i] = __half(value); break;
        case CUDA_R_16BF: static_cast<__nv_bfloat16*>(array)[i] = __nv_bfloat16(value); break;
        case CUDA_R_8I: static_cast<signed char*>(array)[i] = (signed char)value; break;
        case CUDA_R_32I: static_cast<int*>(array)[i] = int(value); break;
        default: static_cast<Float*>(array)[i] = Float(value);
    }
}
inline std::size_t element_bytes(cudaDataType type) {
    switch (type) {
        case CUDA_R_64F: return 8;
        case CUDA_R_16F: case CUDA_R_16BF: return 2;
        case CUDA_R_8I: return 1;
        case CUDA_R_32I: return 4;
        default: return sizeof(Float);
    }
}
inline double scale_of(const void* scalar, cublasComputeType_t compute) {
    const cudaDataType type = compute == CUBLAS_COMPUTE_64F ? CUDA_R_64F
                            : compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F
                            : compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I : CUDA_R_32F;
    return read_element(scalar, type, 0);
}

struct Matrix {
    const void* data;
    cudaDataType type;
    int leading;
    long long transposed;
    double at(long long offset, int row, int column) const {
        const long long place = transposed ? column + (long long)row * leading : row + (long long)column * leading;
        return read_element(data, type, offset + place);
    }
};

inline __global__ void products(int m, int n, int k, double alpha, Matrix a, long long stride_a, Matrix b, long long stride_b,
                                double beta, void* c, cudaDataType type, int leading, long long stride_c, int batch) {
    PORTER_LIBRARY(m, n, k, alpha, a, stride_a, b, stride_b, beta, c, type, leading, stride_c, batch)
    for (int i = 0; i < batch; ++i) {
        for (int column = 0; column < n; ++column) {
            const long long first = stride_c * i + (long long)column * leading;
            for (int row = 0; row < m; ++row) {
                double sum = 0.0;
                for (int p = 0; p < k; ++p) sum += a.at(stride_a * i, row, p) * b.at(stride_b * i, p, column);
                write_element(c, type, first + row, alpha * sum + (beta == 0 ? 0.0 : beta * read_element(c, type, first + row)));
            }
            simt::host_wrote(static_cast<char*>(c) + std::size_t(first) * element_bytes(type), std::size_t(m) * element_bytes(type));
        }
    }
}

// C = alpha A B + beta C for each of `batch` matrices; beta 0 does not read C.
inline cublasStatus_t multiply(int m, int n, int k, double alpha, Matrix a, long long stride_a, Matrix b, long long stride_b,
                               double beta, void* c, cudaDataType type, int leading, long long stride_c, int batch) {
    const auto work = [&] { products(m, n, k, alpha, a, stride_a, b, stride_b, beta, c, type, leading, stride_c, batch); };
    return library::run("cublas::gemm", work, c), CUBLAS_STATUS_SUCCESS;
}

template <class T>
__global__ void weighted_sum(bool turned_a, bool turned_b, int m, int n, T alpha, const T* a, int lda, T beta, const T* b, int ldb,
                             T* c, int ldc) {
    PORTER_LIBRARY(turned_a, turned_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc)
    for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row)
            c[row + column * ldc] = alpha * a[turned_a ? column + row * lda : row + column * lda] +
                                    (b == nullptr ? T(0) : beta * b[turned_b ? column + row * ldb : row + column * ldb]);
        simt::host_wrote(c + column * ldc, std::size_t(m) * sizeof(T));
    }
}
template <class T>
__global__ void add_scaled(int n, T alpha, const T* x, int incx, T* y, int incy) {
    PORTER_LIBRARY(n, alpha, x, incx, y, incy)
    for (int i = 0; i < n; ++i) y[i * incy] += alpha * x[i * incx];
}
template <class T>
__global__ void scale(int n, T alpha, T* x, int incx) {
    PORTER_LIBRARY(n, alpha, x, incx)
    for (int i = 0; i < n; ++i) x[i * incx] *= alpha;
}
enum class Sum { PRODUCTS, SIZES, LENGTH };
template <class T>
__global__ void sum_up(Sum sum, int n, const T* x, int incx, const T* y, int incy, T* result) {
    PORTER_LIBRARY(sum, n, x, incx, y, incy, result)
    double total = 0.0;
    for (int i = 0; i < n; ++i) {
        total += sum == Sum::SIZES ? std::fabs(double(x[i * incx])) : double(x[i * incx]) * y[i * incy];
    }
    *result = T(sum == Sum::LENGTH ? std::sqrt(total) : total);
    simt::host_wrote(result, sizeof(T));
}
template <class T>
cublasStatus_t summed(const char* name, Sum sum, int n, const T* x, int incx, const T* y, int incy, T* result) {
    library::run_for(name, result, [&](T* to) { sum_up(sum, n, x, incx, y, incy, to); });
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace porter

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) { return *handle = nullptr, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetStream(cublasHandle_t, cudaStream_t* stream) { return *stream = nullptr, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
inline const char* cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "the operation completed successfully" : "the operation failed";
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_NOT_SUPPORTED";
}

// The compute type is an enum since CUDA 11; older programs pass the data type.
template <class Compute>
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                                 int k, const void* alpha, const void* a, cudaDataType type_a, int lda,
                                                 long long stride_a, const void* b, cudaDataType type_b, int ldb,
                                                 long long stride_b, const void* beta, void* c, cudaDataType type_c, int ldc,
                                                 long long stride_c, int batch, Compute compute, cublasGemmAlgo_t) {
    cublasComputeType_t precision = CUBLAS_COMPUTE_32F;
    if constexpr (std::is_same_v<Compute, cublasComputeType_t>) precision = compute;
    return porter::multiply(m, n, k, porter::scale_of(alpha, precision), {a, type_a, lda, op_a != CUBLAS_OP_N}, stride_a,
                            {b, type_b, ldb, op_b != CUBLAS_OP_N}, stride_b, porter::scale_of(beta, precision), c, type_c, ldc,
                            stride_c, batch);
}
template <class Compute>
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                                   const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                                   cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                                   Compute compute, cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c, type_c,
                                      ldc, 0, 1, compute, algorithm);
}

#define PORTER_GEMM(name, T, type) \
    inline cublasStatus_t cublas##name##gemmStridedBatched( \
        cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha, const T* a, \
        int lda, long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc, \
        long long stride_c, int batch) { \
        return porter::multiply(m, n, k, double(*alpha), {a, type, lda, op_a != CUBLAS_OP_N}, stride_a, \
                                {b, type, ldb, op_b != CUBLAS_OP_N}, stride_b, double(*beta), c, type, ldc, stride_c, batch); \
    } \
    inline cublasStatus_t cublas##name##gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, \
                                             int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb, \
                                             const T* beta, T* c, int ldc) { \
        return cublas##name##gemmStridedBatched(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1); \
    } \
    inline cublasStatus_t cublas##name##geam(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, \
                                             const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, \
                                             int ldc) { \
        porter::library::run("cublas::geam", [&] { \
            porter::weighted_sum(op_a != CUBLAS_OP_N, op_b != CUBLAS_OP_N, m, n, T(*alpha), a, lda, T(*beta), b, ldb, c, ldc); \
        }, c); \
        return CUBLAS_STATUS_SUCCESS; \
    } \
    inline cublasStatus_t cublas##name##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, \
                                             const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy) { \
        if (incx != 1 || incy != 1) return CUBLAS_STATUS_NOT_SUPPORTED; \
        const bool transposed = op != CUBLAS_OP_N; \
        return cublas##name##gemm(handle, op, CUBLAS_OP_N, transposed ? n : m, 1, transposed ? m : n, alpha, a, lda, x, \
                                  transposed ? m : n, beta, y, transposed ? n : m); \
    }
PORTER_GEMM(S, porter::Float, CUDA_R_32F)
PORTER_GEMM(D, double, CUDA_R_64F)
PORTER_GEMM(H, __half, CUDA_R_16F)
#undef PORTER_GEMM

#define PORTER_VECTOR(name, T) \
    inline cublasStatus_t cublas##name##axpy(cublasHandle_t, int n, const T* alpha, const T* x, int incx, T* y, int incy) { \
        porter::library::run("cublas::axpy", [&] { porter::add_scaled(n, *alpha, x, incx, y, incy); }, y); \
        return CUBLAS_STATUS_SUCCESS; \
    } \
    inline cublasStatus_t cublas##name##scal(cublasHandle_t, int n, const T* alpha, T* x, int incx) { \
        porter::library::run("cublas::scal", [&] { porter::scale(n, *alpha, x, incx); }, x); \
        return CUBLAS_STATUS_SUCCESS; \
    } \
    inline cublasStatus_t cublas##name##dot(cublasHandle_t, int n, const T* x, int incx, const T* y, int incy, T* result) { \
        return porter::summed("cublas::dot", porter::Sum::PRODUCTS, n, x, incx, y, incy, result); \
    } \
    inline cublasStatus_t cublas##name##asum(cublasHandle_t, int n, const T* x, int incx, T* result) { \
        return porter::summed("cublas::asum", porter::Sum::SIZES, n, x, incx, x, incx, result); \
    } \
    inline cublasStatus_t cublas##name##nrm2(cublasHandle_t, int n, const T* x, int incx, T* result) { \
        return porter::summed("cublas::nrm2", porter::Sum::LENGTH, n, x, incx, x, incx, result); \
    }
PORTER_VECTOR(S, porter::Float)
PORTER_VECTOR(D, double)
#undef PORTER_VECTOR
