// n = 1024: as written before CUDA 9
__inline__ __device__ float warpReduceSum(float val) {
  for (int mask = warpSize / 2; mask > 0; mask /= 2)
    val += __shfl_xor(val, mask);
  return val;
}

__global__ void center(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  float first = __shfl(v, 0);
  float sum = warpReduceSum(v);
  if (__any(v > 2.0f)) sum += 1.0f;
  int positive = __popc(__ballot(v > 0.0f));
  out[i] = v - sum / 32 + first + positive;
}

extern "C" void run(const float *in, float *out, int n) { center<<<n / 256, 256>>>(in, out); }
