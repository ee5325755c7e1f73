"""Loops that stay loops.

`kept`             loops over ranges that are not known, over rows of arrays, and `while` on values
`plans`            what a loop carries, found out from what its body changed
`slots`            what is carried, as trees
`nests`            nests of loops over the axes of arrays
`sequences`        what a loop runs over
`appended_lists`   lists that a loop appends to
"""
