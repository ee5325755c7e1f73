"""What users call.

`transforms`      `symgrad` and its functional twins: `grad`, `jacobian`, `hessian`, `jvp`, ...
`compositions`    functions built from others: holomorphic derivatives, auxiliary results
`function`        `SymbolicFunction`: calling, derivatives, inspection, composition
`typed`           what type checkers know of a function's calls
`bound`           functions as methods of objects
`entries`         which compiled entries serve calls, once calls of their kind were made
`seen_forms`      how arguments of calls come to those entries: by name, omitted, converted, in containers
`pickles`         how functions pickle
`leaves`          arguments that are trees, in the names of their leaves
`by_values`       functions that are run by values, where the compiler refuses them
`debugging`       values that a function prints while it is computed
`error_bounds`    by how much the results of a call may be off
`inspection`      what it shows: expressions, sources, reports, modules
`comparing`       calls that are compared with plain Python: of new kinds, sizes and branches
`firstcalls`      the first call with each kind of arguments: kernels, and what Python raises
`per_slope`       calls of Jacobians of elementwise functions with arrays
`labelled`        data frames and others that say how functions of elements are applied to them
`numpy_ufunc`     elementwise functions as ufuncs of NumPy
`narrow_arguments` calls with float32: the dtypes of NumPy in the results
`whole_arguments` calls with integers: those of Python in the results
`wrapping_integers` calls with integers of 32 bits, whose arithmetic must not wrap around
`directional`     derivatives that are called in a way of their own: Jacobians, products with vectors
`taylor_series`   derivatives of any order along a direction
`solutions`       roots, minima, integrals and differential equations by name
`custom_rule`     a user's own elementary function
`calculus`        `simplify` and `diff`: formulas in, formulas out
"""
