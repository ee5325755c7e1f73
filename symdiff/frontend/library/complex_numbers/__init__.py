"""Complex numbers, as pairs of real ones, inside of traced functions.

`of_operators`  operators, in plain Python
`holomorphic`   functions of `cmath` and NumPy, in plain Python
`fourier`       discrete Fourier transforms, in plain Python
`complex_calls` operators, attributes and calls while tracing
"""
