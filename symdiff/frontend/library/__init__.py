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
`windows`             NumPy's windows, which are SciPy's too
`doors`               libraries whose tables are imported once their package is
`scipy/`              SciPy, behind such a door
`foreign`             other libraries' names of NumPy's and SciPy's functions
`of_numba`            the Python code of functions that Numba compiles
`primitives`          functions that traced Python calls and the tracer computes; rows of tables
`composed`            NumPy's functions in terms of others
`rare_arguments`      their calls with arguments that are seldom given
`rearranged`          functions that rearrange arrays, in terms of others
`polynomial_names`    NumPy's polynomials, in terms of others
`known_numbers`       calls with known numbers only, run by Python
"""
