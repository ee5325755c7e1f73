"""Kernels of functions of numbers.

`kernel`          outputs of real parameters, called with floats and arrays
`compiled`        from outputs to functions in memory: key, look up, else lower, print and compile
`ball_elements`   many elements in compiled ball arithmetic, each to the precision that it needs
`elementwise`     a compiled body on arrays: dtypes, broadcasting, `out=`, strides, overlap
`diagonal`        slopes of elements, placed on the diagonal of a Jacobian
`fallback`        elements whose error bound exceeds the tolerance, in ball arithmetic
"""
