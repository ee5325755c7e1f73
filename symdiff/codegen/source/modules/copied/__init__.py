"""Plain Python of which modules contain copies; `codegen.source.modules.helpers` makes them.

`pair_functions`   double-double arithmetic and elementary functions
`error_function`   the error function of pairs
`wide_numbers`     double-double numbers with error bounds
`ball_functions`   what python-flint lacks of the elementary functions, and how balls are rounded
`by_tiers`         from a call of a module's function to its results, tier by tier
"""
