"""What several printers need.

`temporaries`    a DAG as statements: a name for each shared node
`scopes`         scopes of a kernel, and values that are computed in the outermost one that can
`liveness`       how long arrays are used: what may be changed in place
`naming`         Names for what formulas share, where that makes their text shorter
`shared_parts`   Parts that formulas share, in whatever order their sums and products were written
"""
