"""The report of a function as one page of HTML that needs nothing else.

`document`    the contents of the page, and the page
`mathml`      formulas as MathML
`pictures`    errors near singular points, and the graph of a computation, as SVG
`report.html` the template
"""
