"""Other packages' ways of asking.

`lambdify`     SymPy's `lambdify`, with kernels and their derivatives
`derived`      derivatives as functions of flat arguments, for the next ones
`jax`          JAX: functions of arrays under `jit`, `vmap` and reverse mode
`scipy`        SciPy: solvers with the derivatives filled in, low-level callables
`torch`        PyTorch: functions of tensors, with derivatives of any order
"""
