"""From lowered programs to kernels that can be called, with their tiers.

`scalar`     functions of numbers
`loops`      functions with arrays and loops
`generated`  both of generated source, which Numba compiles
`cuda`       on CUDA devices
"""
