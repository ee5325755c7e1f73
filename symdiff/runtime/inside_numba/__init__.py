"""Functions inside of those that Numba compiles.

`numba_dispatcher` what Numba is handed: types and dispatchers; functions of numbers, linked into the caller
`by_address`       programs with arrays and loops, called by the address of their kernel
`pending_errors`   errors of Python that compiled code is to raise
"""
