"""Arrays while tracing.

`small`        arrays of known size, traced element by element
`symbolic`     arrays of unknown size: formulas of indices, and views of memory
`selecting`    indices, slices, masks, gathers
`rounded`      rounded numbers as integers
`lists`        lists of unknown length, whose elements are references
`storing`      storing in arrays of unknown size
`casting`      floats stored in arrays of integers
`folding`      reductions along axes, running ones, products of matrices
"""
