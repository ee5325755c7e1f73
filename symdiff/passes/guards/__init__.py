"""Guards around removable singularities: `x == 0`, clamps, epsilons, `where`.

`guards`        the pass: right guards are repaired, wrong ones are named
`shape`         the shapes of guards
`clamps`        clamps and epsilons
`along`         the kinds of formulas along one variable, by power series
`proof`         whether the guarded value is the limit
`notes`         the guards that were found, and their treatment
`one_side`      one side of a branch, and where it stays
`verdicts`      verdicts on guards
`distance`      how far a guarded value is from the function
`users`         what is above nodes of a formula
`by_substitution`  questions about variables that denote formulas
`slopes`        what derivatives of a guard miss that could not be proved right
`smooth`        whether a formula is smooth at a point
`tolerances`    bands whose width is a parameter
`diagonals`     differences that vanish where two quantities are equal
`extent`        how far a condition holds around a point
`regions`       the values of a quantity for which a comparison holds
`enclosing`     branches that an enclosing branch decides
"""
