"""Arrays while tracing.

`small`        of known size, traced element by element
`symbolic`     of a size that is not known: formulas of indices, and views of memory
`selecting`    indices, slices, masks, gathers
`rounded`      rounded numbers as integers
`lists`        lists of unknown length, whose elements are references
`storing`      storing through them
`casting`      what an array of integers holds after a float was stored in it
`folding`      reductions along axes, running ones, products of matrices
"""
