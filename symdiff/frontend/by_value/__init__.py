"""Functions run by values: plain Python on scalars that carry their double and how they were computed.

The frontend refuses what it cannot keep as structure: queues, memo tables, states by strings. Such a function is
run once at the arguments of a call. Decisions are taken by the doubles; lists, dicts, classes and recursion are
Python's own, and views and indices NumPy's. What was computed is differentiated afterwards.

`reals`           the scalars, and the record of a run
`elementary`      functions of math, NumPy and SciPy of scalars, by the table of `symdiff.ir.functions`
`complex_scalars` complex numbers, as pairs of scalars
`ties`            max and min, with the mean of the slopes at ties
`arrays`          arrays of scalars and of complex numbers
`array_functions` functions of arrays that NumPy writes in C
`matrices`        linear algebra by elimination
`composed_functions` functions in terms of others, as the compiler has them
`fast_transforms` discrete Fourier transforms
`jacobi_rotations` eigenvalues, singular values and least squares
`roots_and_integrals` of functions, that SciPy computes in compiled code
`newton_steps`    roots of polynomials, and Lambert's function
`redirected_names` what math, NumPy and SciPy are called in the user's modules during a run
`reachable`       which globals, cells and defaults a function reads
`local_slopes`    local derivatives of the operations
`sweeps`          reverse and forward mode along what was recorded
`outputs`         results of a run: their leaves, and whether they are those of plain Python
`nesting`         derivatives by the leaves of arguments, nested as those
`branches_at_points` branches that are taken at the arguments only
`path_source`     a run as straight lines of Python, with its guards
`trace`           one run of a function at arguments
"""
