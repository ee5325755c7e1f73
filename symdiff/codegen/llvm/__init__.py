"""LLVM IR.

`printer`          outputs, in one walk over the DAG
`sincos`           fused functions: sin and cos, exp and expm1
`directed`         vector functions where the processor rounds up or down
`array_loop`       the loop over arrays around a kernel
`tiers`            the tiers of a kernel over arrays, chunk by chunk
`nontemporal`      non-temporal stores of large results
`flags`            the processor's floating-point exceptions
`assembly`         functions of loops and branches, whose names are counted
`gemm`             products of matrices
`linear`           small and triangular linear systems
`jit`              compiling and linking
`operation_table`  ball arithmetic as a table of calls of FLINT
`table_loops`      the loops that run such tables
`ball_calls`       C functions that have ball arithmetic compute
`entry/`           builtins that Python calls
`loops/`           programs with arrays and loops
"""
