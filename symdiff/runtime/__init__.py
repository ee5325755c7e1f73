"""Compiled code, and calling it.

`scalar/`      functions of numbers, on numbers and on arrays element by element
`loops/`       programs with arrays and loops
`cuda/`        on CUDA devices
`inside_numba/` functions inside of those that Numba compiles
`protocols`    what kernels ask of lowered functions
`custom_calls` kernels that XLA calls, in programs of JAX
`dispatch`     what a call of a function meets first
`forms`        how the arguments of a call are brought to a compiled entry
`builtin`      Python builtins whose code we compiled ourselves
`threads`      a range of elements over a pool of threads
`cache`        compiled kernels on disk
`kept_formulas`  formulas on disk, under those that they were computed from
`package`      which code this is: the digest that keys the cache
`generated_modules`  modules of generated source, imported from files
`outcome`      what callbacks of compiled code tell once it has returned
`processor_modes`  the direction in which a thread rounds
`signals`      signals that come while a kernel runs
"""
