"""SymPy expressions, text and LaTeX.

`translate`     the DAG
`loops`         programs with arrays and loops
`text`          expressions as a person writes them
"""
