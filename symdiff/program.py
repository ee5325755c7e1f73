"""A captured function: its parameters and its outputs as one expression DAG.

Loops over values known when traced are unrolled and branches on real values
are `where` nodes, so a scalar program is a pure DAG. Every pass takes and
returns a `Program`; between passes `symdiff.verify.faults` finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symdiff.errors import Location
from symdiff.ir import Expr

Tree = Any
"""How outputs nest in what the function returns: an index into `outputs`, or a
tuple, list, dict or NumPy integer array of trees."""


@dataclass(frozen=True, slots=True)
class Program:
    """One function, specialised on its static arguments.

    Attributes
    ----------
    name : the function's name.
    params : names of the real parameters, in order; each is a `VAR` node.
    outputs : the real values that the function returns, flattened.
    tree : how the outputs nest.
    domain : conditions on the parameters that hold wherever the function is
        defined (guarded by the branch they stand in); outside the value is nan.
    assumptions : conditions the user asserted.
    locations : first place in the source of each node that has one.
    """

    name: str
    params: tuple[str, ...]
    outputs: tuple[Expr, ...]
    tree: Tree = 0
    domain: tuple[Expr, ...] = ()
    assumptions: tuple[Expr, ...] = ()
    locations: Mapping[Expr, Location] = field(default_factory=dict, compare=False)


def map_tree(function: Callable[[int], Any], tree: Tree) -> Any:
    """Replace every index of a tree by `function(index)`, keeping the containers."""
    if isinstance(tree, tuple):
        return tuple(map_tree(function, t) for t in tree)
    if isinstance(tree, list):
        return [map_tree(function, t) for t in tree]
    if isinstance(tree, dict):
        return {k: map_tree(function, t) for k, t in tree.items()}
    if isinstance(tree, np.ndarray):
        leaves = [function(int(i)) for i in tree.ravel()]
        if leaves and isinstance(leaves[0], np.ndarray):
            return np.stack(leaves).reshape(tree.shape + leaves[0].shape)
        return np.array(leaves).reshape(tree.shape)
    return function(int(tree))
