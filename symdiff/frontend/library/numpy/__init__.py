"""NumPy's functions.

`small/`       on numbers and arrays whose elements are traced one by one
`symbolic/`    on arrays whose size is not known when traced
`keywords`     arguments by name, `out=` and `where=`
`truth_values` what elementwise functions make of truth values alone
`ufuncs`       methods such as `np.add.reduce`, and index tricks
"""
