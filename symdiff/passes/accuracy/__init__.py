"""Rounding errors: bounds, tests, and the tiers of arithmetic.

`bounds`             running error analysis: bounds of the errors of nodes, as expressions
`residual`           the residual error bound of a compensated value
`error_test`         the condition under which a result is flagged
`flagged`            how many elements are flagged, by sample points
`gather_fractions`   sums of fractions over a common denominator, where that loses fewer digits
`cancelling_sums`    sums that may cancel, with the errors of their terms
`compensate`         compensated evaluation of outputs
`widen`              outputs in double-double arithmetic
`far_constants`      constants beyond the range of doubles, by several in range
`overflow`           where overflow or underflow may have spoilt a result
`softmax`            the softmax rewrite: exponentials over their sum as logistic functions
`absent_terms`       terms that exponentials of -inf leave out
`loop_tiers`         the same tiers for the values of programs with arrays and loops
`lossy`              which programs pass on what underflow costs, and which divide
`one_signed`         which numbers are never negative
"""
