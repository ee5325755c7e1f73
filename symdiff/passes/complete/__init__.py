"""Removable singularities, filled for the value and all derivatives.

`complete`      the pass
`removable`     completed functions: operations with derivatives of every order
`surfaces`      along a surface on which a denominator vanishes
`across`        functions completed across a surface
`regroup`       factors of one quantity come together
`bands`         series in a band around a point, instead of a closed form that loses digits
`indeterminate` powers that are undefined, but not in IEEE arithmetic
`powers`        derivatives of powers where the base is 0
`taylor`        whether a formula is the first terms of another's series
"""
