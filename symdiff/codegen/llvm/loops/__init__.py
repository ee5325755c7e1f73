"""Programs with arrays and loops as LLVM IR.

`kernel`        the function, `i32 @kernel(ptr frame)`
`body`          builds, updates, loops, checks, calls
`scoped`        values of expressions, each in the outermost scope that can
`memory`        addresses of elements, places for new arrays, tapes
`tapes`         values that a loop saves and its reverse restores
`cost`          the vector cost model: which loops are vectorised
`vectorised`    a loop on vectors between two without SIMD
`lanes`         vectors of array elements
`row_blocks`    sums over several rows at once
`matmul`        calls of products of matrices
`systems`       linear systems, determinants and factors
`parallel`      parallel regions: arrays that several threads fill
`fallback`      guarded recomputation of flagged values
`in_balls`      kernels whose real numbers are balls
`ball_memory`   their memory
`decisive`      the numbers that decide, whose doubles they compute beside
`interrupts`    kernels that let themselves be interrupted
"""
