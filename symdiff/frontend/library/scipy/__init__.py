"""SciPy's functions and classes, besides elementary functions.

`tables`              all of them, as `doors` takes them
`implicit`            roots and integrals of functions
`minima`              systems of equations and minima
`ode`                 initial value problems
`riccati`             equations of Sylvester, Lyapunov and Riccati; generalised eigenvalues
`matrix_functions`    roots, factors and kinds of matrices
`filters`             windows by name, and filters of `scipy.ndimage`
`splines`             interpolants
`rotations`           rotations
`sparse_matrices`     sparse matrices
`scientific`          functions of `scipy.signal`, `scipy.linalg` and `scipy.stats` in terms of NumPy's
`special_orders`      special functions of known orders, or with several results
`distributions`       functions that distributions use
`densities`           distributions of `scipy.stats` in standard form
`located`             their methods, with location and scale, and frozen distributions
"""
