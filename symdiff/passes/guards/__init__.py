"""Guards around removable singularities: `x == 0`, clamps, epsilons, `where`.

`guards`        the pass: the right ones are repaired, the wrong ones named
`shape`         what guards look like
`clamps`        clamps and epsilons
`along`         what formulas are along one variable, by power series
`proof`         whether the guarded value is the limit
`notes`         the guards that were found, and what was done with them
`one_side`      one side of a branch, and where it stays
`verdicts`      what is found out about a guard
`distance`      how far a guarded value is from the function
`users`         what is above nodes of a formula
`meant`         questions about variables that denote formulas
`slopes`        what derivatives of a guard miss that could not be proved right
`smooth`        whether a formula is smooth at a point
`tolerances`    bands whose width is a parameter
`diagonals`     differences that vanish where two quantities are equal
`extent`        how far a condition holds around a point
`regions`       what a condition says about the quantity it compares
`enclosing`     branches that an enclosing branch decides
"""
