"""Routines of linear algebra that programs call, with their derivatives.

`routines`       one table entry each
`derivatives`    the writer of statements that their rules use
`svd`            singular values and pseudoinverses
`reference`      the same routines in ball arithmetic
"""
