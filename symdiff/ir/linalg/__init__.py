"""Routines of linear algebra that programs call, with their derivatives.

`routines`       one table entry each
`derivatives`    what their rules are written with
`svd`            singular values and pseudoinverses
`corrected_pseudoinverse`  those with their rounding errors
`reference`      the same in ball arithmetic
"""
