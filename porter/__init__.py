"""porter brings CUDA reference kernels up on another accelerator and proves the port."""

__version__ = "0.1.0"
