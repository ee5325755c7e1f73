"""Cancellation, before anything is evaluated.

`cancel`               common factors of numerators and denominators
`algebra`              nodes as rational functions of independent generators
`rational`             exact fractions in factored form, and back to nodes
`common_denominator`   a formula as one quotient
`like_powers`          products of powers of one base
`shared_exponential`   exponentials whose arguments differ by logarithms
`signsquares`          squares of signs in derivatives
`linear_forms`         expressions as linear forms, solved for a variable
`branch_sides`         absolute values, maxima and minima in branches that know the sign
`literals`             zeros that are missed only by the rounding of literals
`residues`             the values of numerators at such zeros
"""
