"""Simplification of programs with arrays and loops.

`block_by_block`     the expressions of each block, by the passes of functions of numbers
`known_sizes`        integers, by the known sizes of arrays
`forwarding`         a load yields the stored value
`fixed_points`       distances of affine recurrences from their fixed points
`promote`            an element that a loop changes, in a number
`tabulate`           loops that fill arrays, as arrays given by their indices
`copies`             arrays that loops only copy
`fuse`               elements of an array, computed where they are used
`rows_together`      loops that go through the same rows, as one
`chosen_rows`        terms that are added for chosen elements only
`repeated`           what several statements compute, computed once
`deltas`             sums over Kronecker deltas
`only_where_read`    values that only one branch reads
`through`            singularities behind arrays of intermediate results
`running_norms`      roots of sums of squares that loops add up
`norm_slopes`        slopes of norms that are differentiated again
`undefined_ties`     slopes at ties, where slopes are multiplied
`guarded_points`     points of numbers that are treated apart, reported at run time
`exits`              equalities that end loops, as points that a program treats apart
`vanishing`          what is 0 at all arguments
`scaled_sums`        sums of exponentials and of squares, with their scales taken out
"""
