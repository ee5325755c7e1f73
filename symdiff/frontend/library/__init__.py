"""The functions that symdiff knows.

`registry`            all of them, as objects
`builtin_functions`   Python's own
`instances`           isinstance
`ordering`            sorted lists
`output`              what prints or logs
`standard`            math, functools, itertools, operator
`record_copies`       dataclasses and copy
`collections_names`  deques, and dicts with defaults, counts or an order
`methods`             methods of Python's containers and strings
`numpy/`              NumPy
`complex_numbers/`    complex numbers as pairs of real ones
`foreign`             other libraries' names of NumPy's and SciPy's
`of_numba`            what Numba compiles, seen through to its Python
`primitives`          what traced Python calls and the tracer computes; rows of tables
`composed`            NumPy's and SciPy's in terms of others
`rare_arguments`      their calls with arguments that are seldom given
`rearranged`          those that rearrange arrays, in terms of others
`polynomial_names`    NumPy's polynomials, in terms of others
`known_numbers`       what is called with numbers that are known, as Python calls it
`distributions`       methods of `scipy.stats`
`densities`           distributions of `scipy.stats` in standard form
`located`             their methods, with location and scale, and frozen ones
`special_orders`      special functions of known orders, or with several results
`implicit`            roots and integrals of functions
`minima`              systems of equations and minima
`ode`                 initial value problems
`riccati`            equations of Sylvester, Lyapunov and Riccati; generalised eigenvalues
`filters`            windows, and filters of `scipy.ndimage`
`scipy_classes`      classes in place of SciPy's
`splines`            interpolants
`rotations`          rotations
`sparse_matrices`    sparse matrices
`matrix_functions`    roots, factors and ranks of matrices
`scientific`          functions of `scipy.signal`, `scipy.linalg` and `scipy.stats` in terms of NumPy's
"""
