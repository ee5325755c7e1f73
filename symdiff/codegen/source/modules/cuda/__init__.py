"""The part of standalone modules that computes on CUDA devices.

`scalar`     functions of numbers
`loops`      functions with arrays and loops
`kernels`    their kernels, as Numba-CUDA Python
`host`       what the host does between kernels
"""
