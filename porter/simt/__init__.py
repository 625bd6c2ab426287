"""The embedded oracle: runs CUDA and MACA source on the CPU at a warp width of 32 or 64."""
