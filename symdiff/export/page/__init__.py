"""The report of a function as one page of HTML that needs nothing else.

`document`    what stands on the page, and the page
`mathml`      formulas as MathML
`pictures`    errors beside singular points, and the graph of a computation, as SVG
`report.html` the template
"""
