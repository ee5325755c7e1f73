"""NumPy's functions.

`either`       arrays of either class: traced element by element, or of any size
`names`        the tables of functions, and of methods and attributes of arrays
`making`       new arrays and copies
`shapes`       new shapes and views
`joins`        joining, splitting, padding
`reductions`   sums, products, extremes, running ones
`norms`        norms
`linear_algebra` products, solving, decompositions, sorting
`elementwise`  choosing, comparing, rounding, converting
`keywords`     arguments by name, `out=` and `where=`
`truth_values` elementwise functions of truth values alone
`ufuncs`       methods such as `np.add.reduce`, and index tricks
"""
