"""Ten programs as people write them: a plain NumPy function, its data, and the same for JAX.

Each module has

`function`     what is differentiated, in NumPy
`WRT`          by which parameters
`DERIVATIVE`   "value_and_grad" or "jacobian"
`data`         arguments, drawn by a generator
`for_jax`      the function for JAX, if it is written differently there; else `function` with
               `jax.numpy` for NumPy is it
`main`         prints what the derivatives are good for

`python benchmarks/programs_benchmark.py` checks and times them.
"""

NAMES = (
    "greeks", "argon", "kalman", "logit", "arm", "slerp", "epidemic", "network", "gaussian_process",
    "image_filter",
)  # fmt: skip
