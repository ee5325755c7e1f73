"""Kernels of programs with arrays and loops.

`program_keys`  what compiled code depends on
`kernel`        compiled when first called
`arguments`     arguments as what is computed with, and sizes
`call`          one call, from an argument frame to results
`entry`         the builtin for ordinary calls
`fallback`      elements whose error bound exceeds the tolerance, in balls
`probe`         whether a call lost digits, measured by rounding up and down
`measured_rows` the same for each row of a map
`ball_program`  a program in compiled balls
`recomputed`    calls whose results lost digits, in balls
`by_definition`         derivatives at points that a program treats apart, or where kernels have none, by the definition
`rows`          rows of arguments over threads
`transposed`    rows of a few numbers, in vectors over rows
`results`       where results go, and whether they are finite
`exact_integers` Python's integers, where 64 bits do not hold them
"""
