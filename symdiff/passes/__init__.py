"""Program to program, on the expression DAG.

`analysis/`       signs, roots, zeros, sizes
`guards/`         guards around removable singularities
`cancel/`         common factors go before anything is evaluated
`complete/`       removable singularities are filled, for all derivatives
`differentiate`   the chain rule, forward and reverse
`leibniz`         derivatives of high order, node by node
`margins`         derivatives are nan outside of domains
`stabilise`       forms that keep their digits
`accuracy/`       error bounds, error tests, and the tiers of arithmetic
`simplify/`       the short form of a formula
"""
