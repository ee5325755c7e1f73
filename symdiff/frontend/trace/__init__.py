"""The state of a trace, and the numbers and conditions that it computes with.

`values`         values that a traced function computes with
`array_memory`   memory of arrays of unknown size, and which memory may be the same
`outside`        values of the user's world
`complex_pairs`  complex and real numbers, where they are merged
`scalars`        operations on real numbers and truth values, with the conditions they need
`domains`        where values are defined
`implied`        consequences of conditions that hold
`interface`      the methods of the interpreter that a trace calls
`recorder`       places for errors, statements, memory, containers that the function made
`facts`          facts about conditions: whether they hold here, and their text
`tracer`         branches: both sides are run, then merged
`frames`         local names of calls, and the state that branches and loop steps restore
`closures`       functions defined inside, and the names that they share
`aliases`        which lists, dicts and arrays are the same object
`decisions`      how conditions follow from each other
`constants`      conditions between constants, decided rigorously
`defined`        where values are defined
`demands`        uses of a parameter for which the function is traced again
`extents`        sizes and indices that are unknown when traced, and their checks
`unify`          sizes that must agree get one name
`counted_truth`  truth values as numbers, as Python and as NumPy have them
`closeness`      whether numbers agree up to a tolerance
`rounded_digits`  numbers rounded to decimal digits
`finiteness`     `isfinite`, `isnan` and `isinf`
`raised`         errors of arithmetic that Python raises in tried statements
`poles`          denominators of a formula in its written form
`wide_integers`  integers that may not fit in 64 bits
"""
