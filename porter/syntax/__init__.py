"""C++ function bodies as trees: what a backend that leaves C++ behind reads (docs/design/triton.md)."""
