"""NumPy's functions.

`either`       what is dispatched by the class of arrays: traced one by one, or of any size
`names`        which function, method or attribute of arrays is which of ours
`making`       new arrays and copies
`shapes`       new shapes and views
`joins`        joining, splitting, padding
`reductions`   sums, products, extremes, running ones
`norms`        norms
`linear_algebra` products, solving, decompositions, sorting
`elementwise`  choosing, comparing, rounding, converting
`keywords`     arguments by name, `out=` and `where=`
`truth_values` what elementwise functions make of truth values alone
`ufuncs`       methods such as `np.add.reduce`, and index tricks
"""
