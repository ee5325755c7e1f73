"""Programs with arrays and loops on CUDA devices.

`plan`            division into kernels and steps of the host
`steps`           what the steps of the host are
`independence`    which loops may run as many threads
`scatter`         loops that only add to elements, as sums for each element
`kernel`          one kernel: what it takes, how threads share its work
`body`            statements as one thread runs them
`scoped`          values of expressions, each in the outermost scope that can
`tapes`           what iterations do with tapes
`warp_sums`       sums of rows, a warp each
`matmul`          products of matrices and calls, as loops
`language`        how the languages of kernels spell their statements
`listing`         the steps as lines for people
"""
