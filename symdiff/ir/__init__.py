"""The expression DAG: immutable, hash-consed nodes over exact real numbers.

`nodes`          operations, nodes, walks over the DAG
`arithmetic`     constructors of arithmetic
`conditions`     constructors of comparisons, truth values and `where`
"""

from symdiff.ir.arithmetic import *  # noqa: F403
from symdiff.ir.conditions import *  # noqa: F403
from symdiff.ir.nodes import *  # noqa: F403
