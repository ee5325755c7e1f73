"""Preparation of programs with arrays and loops.

`twins`            numbers that are carried twice, for decisions and for values, as one
`vector_ready`     rearrangements for the sake of vectors
`powers_by_index`  powers by the index of a loop, as products that it carries
`matmul`           products of matrices, found
`chains`           the states of an array that a loop changes element by element
`copied_columns`   copies of matrices by columns, for lanes of sums
`layouts`          arrays by columns, where innermost loops add to several rows
`ball_operations`  operations for which balls have C functions
`routines_as_loops`  products of matrices, solvers and transforms as loops, for balls
`eliminations`     linear solvers as loops
`transforms_as_sums` discrete Fourier transforms as sums
`complex_rows`     Fourier transforms of complex rows, for balls
`refined`          spectral routines by Newton steps, for balls
`collected`        reductions: what loops only add to, multiply, or keep the largest of
"""
