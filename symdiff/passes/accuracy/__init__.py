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
`loop_tiers`         the same tiers for the values of programs with arrays and loops
`propagation`        the error of an expression from those of the names in it
`common_factors`     errors with what their terms have in common in front
`carried_errors`     what is assumed of the error of a carried value
`joint_errors`       the covariance of the errors of numbers that a loop computes from each other
`program_errors`     the errors of the names of a program with arrays and loops, computed beside it
`estimates`          checks of results by those errors
`result_errors`      how far results may be off, as results
`estimated_statements`  what estimates ask of the statements of a program
`lossy`              which programs pass on what underflow costs, and which divide
`matrix_errors`      the errors of products of matrices
`solver_corrections`  what is to be added to the results of linear solvers, by their residuals
`spectral_corrections`  the same of eigenvalues, singular values and their vectors
`pseudoinverse_corrections`  the same of pseudoinverses
`beside`             the other parts of real numbers, carried beside them through statements
`eliminations`       linear solvers as loops, for those
`gathered`           whether elements of results depend on all elements of the arguments
`corrected_program`  a program with arrays and loops together with its rounding errors
`one_signed`         which numbers are never negative
`sums_in_lanes`      sums in loops, several at a time
`underflow_losses`   what underflow costs a value that is computed with its rounding error
`rows_with_errors`   the same of a program over rows, which says which rows are not accurate
`whole_program`      a program with arrays and loops in double-double arithmetic
"""
