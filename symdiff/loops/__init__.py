"""Programs with arrays and loops to such programs.

`simplify/`        statements and their expressions
`diff/`            reverse and forward mode, tapes, checkpoints
`rows`             a program for each row of its arguments
`fixed_rows`       rows of a few numbers as formulas of these
`context`          the shared state of the transformations of one program
`adjoint_loops`    loops over the elements of an array, around statements that add to adjoints
`trees`            how derivatives nest
"""
