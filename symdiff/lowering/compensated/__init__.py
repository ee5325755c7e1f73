"""Compensated evaluation: values together with the rounding errors of all that is in them.

`evaluate`        sums, products, quotients, roots
`functions`       elementary functions with their errors, an entry each
`unnormalised`    the unnormalised pairs of doubles that they use
`exponentials`    exponentials, logarithms, hyperbolic functions
`angles`          trigonometric functions and their inverses
`erf`             the error function
"""
