"""Standalone modules, which import only math, numpy and numba.

`scalar`        functions of numbers
`first_tier`    double arithmetic with its error test
`second_tier`   double-double arithmetic with error bounds
`third_tier`    formulas on balls
`again`         what computes flagged elements again
`face`          first lines and docstrings of public functions
`inside`        public functions, called by what Numba compiles
`arrays_inside` the same of functions with arrays
`helpers`       the functions that a module uses of `copied`
`copied/`       plain Python of which modules contain copies
`loops`         functions with arrays and loops
`other_loops`   the same in double-double arithmetic and in balls
`cuda/`         the part that computes on CUDA devices
"""
