"""Standalone modules, which import only math, numpy and numba, and their companion if they have one.

`scalar`        functions of numbers
`kernels`       their kernels: double arithmetic with its error test, and double-double arithmetic
`helpers`       the functions that kernels call, printed from the rules of `lowering`
`support`       from a call of a public function to its results
`companion`     the file of functions that modules share
`face`          first lines and docstrings of public functions
`inside`        public functions, called by what Numba compiles
`arrays_inside` the same of functions with arrays
`loops`         functions with arrays and loops
`cuda`          functions of numbers on CUDA devices
"""
