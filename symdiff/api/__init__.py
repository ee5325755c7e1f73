"""What users call.

`transforms`      `symgrad` and its functional twins: `grad`, `jacobian`, `hessian`, `jvp`, ...
`function`        `SymbolicFunction`: calling, derivatives, inspection, composition, pickling
`directional`     derivatives that are called in a way of their own: Jacobians, products with vectors
`custom_rule`     a user's own elementary function
"""
