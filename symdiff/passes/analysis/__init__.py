"""Analyses of expressions.

`signs`           signs, from the shape of the DAG and what the user asserts
`roots`           where a formula may be singular, and at which rational points
`zeros`           where a formula of several variables vanishes
`flat_regions`    where a formula is zero throughout a region
`quadratic`       quadratic forms as sums of squares
`bottlenecks`     quantities through which alone formulas depend on their variables
`dependence`      which variables a node depends on
`fingerprint`     where something can cancel: a test modulo a prime
`magnitude`       within which inputs nothing overflows or underflows
`underflow`       where an underflow does not affect a result
`compensations`   whether a program computes its own rounding errors
`band_extent`     how large a function of one variable becomes in a band
"""
