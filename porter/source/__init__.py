"""CUDA text to `Program`: what the file defines, launches and depends on."""
