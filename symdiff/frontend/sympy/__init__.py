"""SymPy expressions as Python functions, to be traced like any other.

`to_python`    from expressions to source
`queries`      what expressions are: leaves, loops, inverses; which are refused
`table`        what functions, constants and relations are in Python
"""
