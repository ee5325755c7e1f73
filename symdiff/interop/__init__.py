"""Other packages' ways of asking.

`lambdify`     SymPy's `lambdify`, with kernels and their derivatives
`derived`      derivatives as functions of flat arguments, for the next ones
`dask`         Dask: sums over blocks of arrays, and their gradients
`jax`          JAX: functions of arrays under `jit`, `vmap` and derivatives of any order
`scipy`        SciPy: solvers with the derivatives filled in, low-level callables
`torch`        PyTorch: functions of tensors, with derivatives of any order
"""
