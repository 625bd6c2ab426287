// y[j] = sum over i of x[i, j]
#define TILE_X 32
#define TILE_Y 8

static __global__ void column_sums(const float* x, float* y, int rows, int cols)
{
    __shared__ float tile[TILE_Y][TILE_X + 1];
    const int col = blockIdx.x * TILE_X + threadIdx.x;

    float sum = 0.0f;
    if (col < cols)
        for (int r = threadIdx.y; r < rows; r += TILE_Y)
            sum += x[(size_t)r * cols + col];
    tile[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();

    for (int half = TILE_Y / 2; half > 0; half /= 2) {
        if (threadIdx.y < half)
            tile[threadIdx.y][threadIdx.x] += tile[threadIdx.y + half][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0 && col < cols)
        y[col] = tile[0][threadIdx.x];
}

void run_col_sum_tile(const float* x, float* y, int rows, int cols)
{
    const dim3 threads(TILE_X, TILE_Y, 1);
    const dim3 blocks((cols + TILE_X - 1) / TILE_X, 1, 1);
    column_sums<<<blocks, threads>>>(x, y, rows, cols);
}
