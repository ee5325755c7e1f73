"""Kernels of programs with arrays and loops.

`kernel`        compiled when first called
`arguments`     arguments as what is computed with, and sizes
`call`          one call, from an argument frame to results
`entry`         the builtin for ordinary calls
`fallback`      elements whose error bound exceeds the tolerance, in double-double or balls
`probe`         whether a call lost digits, measured by rounding up and down
`recording`     an arithmetic that records the operations of a program
`ball_program`  a program at its sizes as a table of balls
`recomputed`    calls whose results lost digits, in balls or double-double
`apart`         derivatives at points that a program treats apart, or where kernels have none, by the definition
`rows`          rows of arguments over threads
`transposed`    rows of a few numbers, in vectors over rows
`results`       where results go, and whether they are finite
`exact_integers` Python's integers, where 64 bits do not hold them
"""
