"""What generated modules call beyond Triton's own language, and what CUDA's device functions are in Triton."""
