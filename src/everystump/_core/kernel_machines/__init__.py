"""Kernel machines: the registry of kernels, kernel matrices, training, leave-one-out."""
