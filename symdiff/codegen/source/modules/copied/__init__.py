"""Plain Python of which modules contain copies; `codegen.source.modules.helpers` makes them.

`pair_functions`   double-double arithmetic and elementary functions
`error_function`   the error function of pairs
`wide_numbers`     double-double numbers with error bounds
`rows_of_numbers`   arrays of such numbers
`integer_balls`    ball arithmetic on Python's integers, for where there is no python-flint
`special_functions`  special functions of these
`ball_functions`   elementary functions of balls of either kind, and how these are rounded
`extended_balls`   balls beside infinities and nan, as IEEE arithmetic has these
`by_tiers`         from a call of a module's function to its results, tier by tier
`arrays_by_tiers`   the same of functions with arrays and loops
`limits_at_guards`  their derivatives at points that a program treats apart; calls from Python use it, too
"""
