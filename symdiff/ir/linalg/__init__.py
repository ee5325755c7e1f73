"""Routines of linear algebra and transforms that programs call, with their derivatives.

`routines`          one table entry each
`derivatives`       the writer of statements that their rules use
`discrete_fourier`  discrete Fourier transforms
`svd`               singular values and pseudoinverses
`reference`         the same routines in ball arithmetic
"""
