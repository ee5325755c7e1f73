"""The functions that symdiff knows.

`registry`            all known functions, as objects
`builtin_functions`   Python's builtins
`instances`           isinstance
`ordering`            sorted lists
`output`              functions that print or log
`standard`            math, functools, itertools, operator
`record_copies`       dataclasses and copy
`methods`             methods of Python's containers and strings
`numpy/`              NumPy
`complex_numbers/`    complex numbers as pairs of real ones
`foreign`             other libraries' names of NumPy's and SciPy's functions
`of_numba`            the Python code of functions that Numba compiles
`primitives`          functions that traced Python calls and the tracer computes; rows of tables
`composed`            NumPy's and SciPy's functions in terms of others
`rare_arguments`      their calls with arguments that are seldom given
`rearranged`          functions that rearrange arrays, in terms of others
`polynomial_names`    NumPy's polynomials, in terms of others
`known_numbers`       calls with known numbers only, run by Python
`distributions`       functions that distributions use
`densities`           distributions of `scipy.stats` in standard form
`located`             their methods, with location and scale, and frozen distributions
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
