"""Guards around removable singularities: `x == 0`, clamps, epsilons, `where`.

`guards`        the pass: right guards are dropped, wrong ones are named
`shape`         the shapes of guards: conditions on one quantity, branches
`clamps`        clamps and epsilons
`proof`         whether the guarded value is the limit
`notes`         the guards that were found, and their treatment
`band_middles`  thin bands as points, for people
`regions`       the values of a quantity for which a comparison holds
`enclosing`     branches that an enclosing branch decides
"""
