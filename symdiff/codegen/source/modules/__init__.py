"""Standalone modules, which import only math, numpy and numba.

`scalar`     functions of numbers
`loops`      functions with arrays and loops
`cuda/`      the part that computes on CUDA devices
"""
