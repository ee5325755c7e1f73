"""The intermediate representations: immutable programs, and the tables of functions and identities.

`nodes`           the expression DAG: operations, hash-consed nodes over exact reals
`walks`           walks over parts of the DAG
`arithmetic`      constructors of arithmetic
`conditions`      constructors of comparisons, truth values and `where`
`plain`           operations rounded as plain Python rounds them, for values that decide branches
`functions/`      every elementary function, one entry each
`undefined`       where formulas are certainly nan
`identities`      forms that lose digits, and equal forms that do not
`program`         programs of numbers: parameters, outputs, how they nest, domain
`complex_values`  complex numbers in results, built from their parts
`loop_program`    programs with arrays and loops: blocks of statements over the DAG
`names`           names of what a program defines
`inductive`       properties of names by induction over their definitions
`effects`         what statements change, read and check
`blocks`          rewriting of blocks of statements, nested blocks included
`integers`        bounds on indices and sizes that are unknown at compile time
`linalg/`         routines of linear algebra
`verify/`         why a program is not valid
`node_text`       programs as text that parses back
`formula_text`    formulas as a person writes them, from nodes
`pass_lists`      passes as data, and the log of a run
`prune`           removes statements that nothing uses
"""

from symdiff.ir.arithmetic import *  # noqa: F403
from symdiff.ir.conditions import *  # noqa: F403
from symdiff.ir.nodes import *  # noqa: F403
from symdiff.ir.walks import *  # noqa: F403
