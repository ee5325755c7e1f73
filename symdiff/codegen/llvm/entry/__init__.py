"""Builtins that Python calls, as LLVM IR.

`dispatch`       the dispatch stub that every call goes to
`elementwise`    kernels on arrays
`loops`          kernels of programs with arrays and loops
"""
