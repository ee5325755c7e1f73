"""NumPy's functions on numbers and small arrays.

`names`      which function is which of ours
`shapes`     products, and what rearranges arrays
"""
