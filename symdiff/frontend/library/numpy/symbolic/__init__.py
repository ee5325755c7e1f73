"""NumPy's functions on arrays whose size is not known when traced.

`names`             which function, method or attribute is which of ours
`making`            new arrays and copies
`shapes`            new shapes and views
`joins`             joining, splitting, padding
`reductions`        sums, products, extremes, running ones
`norms`             norms
`linear_algebra`    products, solving, decompositions, sorting
"""
