"""Formulas given as text, such as `(x**2 - 4)/(x - 2)`.

`grammar`     names, operators and common mistakes
`parse`       from text to a program
"""
