"""Other packages' ways of asking.

`lambdify`     SymPy's `lambdify`, with kernels and their derivatives
"""
