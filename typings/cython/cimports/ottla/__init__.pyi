"""Kernels that other kernels use as C; one stub a kernel, which names what its Python source has."""
