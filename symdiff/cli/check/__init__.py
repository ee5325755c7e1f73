"""`symdiff check`: where the plain chain rule goes wrong, and what is right there.

`command`      the search for bad points, and what is printed
`examine`      one function by the plain chain rule, proven, and by symdiff
`rounded_decisions`  comparisons and integers that rounding decides
`formulas`     the formulas of a program with arrays or loops, each as a function of numbers
`whole`        such a program at small sizes, as one function of the elements of its arguments
`singular_arrays`  ordinary arrays at which a function has no value
`ranks`        where people compute, how bad a finding is, and what symdiff would write there
`findings`     what is reported, and how it is written
`sarif`        the same for code hosts
"""
