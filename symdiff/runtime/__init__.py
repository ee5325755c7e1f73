"""Compiled code, and calling it.

`scalar/`      functions of numbers, on numbers and on arrays element by element
`loops/`       programs with arrays and loops
`cuda/`        on CUDA devices
`dispatch`     what a call of a function meets first
`builtin`      Python builtins whose code we compiled ourselves
`threads`      a range of elements over a pool of threads
`cache`        compiled kernels on disk
`package`      which code this is: the digest that keys the cache
"""
