"""SymPy expressions as Python functions, to be traced like any other.

`to_python`    from expressions to source
`queries`      kinds of expressions: leaves, loops, inverses; refused expressions
`table`        functions, constants and relations in Python
"""
