"""Loops that are kept as loops.

`kept`             loops over unknown ranges, over rows of arrays, and `while` on values
`growth`           whether the formula of a loop grows with each iteration
`plans`            which values a loop carries, by the changes of its body
`slots`            carried values, as trees
`nests`            nests of loops over the axes of arrays
`sequences`        what a loop iterates over
`appended_lists`   lists that a loop appends to
"""
