"""The intermediate representations: immutable programs, and what is declared of functions.

`nodes`           the expression DAG: operations, hash-consed nodes over exact reals
`walks`           walks over parts of it
`arithmetic`      constructors of arithmetic
`conditions`      constructors of comparisons, truth values and `where`
`plain`           operations as plain Python computes them, for what decides
`functions/`      every elementary function, one entry each
`identities`      forms that lose digits, and equal ones that do not
`program`         programs of numbers: parameters, outputs, how they nest, domain
`complex_values`  complex numbers in results, of their parts
`loop_program`    programs with arrays and loops: blocks of statements over the DAG
`names`           names of what a program defines
`inductive`       properties of names by induction over their definitions
`effects`         what statements change, read and check
`blocks`          blocks of statements, rewritten inside
`integers`        what can be said of indices and sizes that are not known when compiling
`linalg/`         routines of linear algebra
`verify/`         why a program is not valid
`node_text`       programs as text that parses back
`formula_text`    formulas as a person writes them, from nodes
`pass_lists`      passes as data, and what ran
`prune`           statements that nothing uses are left out
"""

from symdiff.ir.arithmetic import *  # noqa: F403
from symdiff.ir.conditions import *  # noqa: F403
from symdiff.ir.nodes import *  # noqa: F403
from symdiff.ir.walks import *  # noqa: F403
