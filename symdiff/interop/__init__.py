"""Other packages' ways of asking.

`lambdify`     SymPy's `lambdify`, with kernels and their derivatives
`torch`        PyTorch: functions of tensors, with derivatives of any order
"""
