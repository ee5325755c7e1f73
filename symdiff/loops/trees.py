"""How derivatives nest, in terms of how the outputs of a function do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symdiff.ir.program import Tree, like


def bundle(items: list[Tree]) -> Tree:
    """One parameter gives its entry, several give a tuple."""
    return items[0] if len(items) == 1 else tuple(items)


def joined(first: Tree, count: int, second: Tree) -> Tree:
    """Both trees as a pair; the outputs of the second follow the `count` of the first."""
    return (first, nested(lambda i: i + count, second))


def cells(tree: Tree, params: int) -> Tree:
    """The tree of a Jacobian, whose outputs are numbered output by output."""
    if isinstance(tree, np.ndarray):  # one array per parameter, shaped as the output
        return bundle([tree * params + j for j in range(params)])
    return nested(lambda i: bundle([i * params + j for j in range(params)]), tree)


def nested(function: Callable[[int], Tree], tree: Tree) -> Tree:
    """A tree with something else for each output."""
    if isinstance(tree, (tuple, list)):
        return like(tree, (nested(function, t) for t in tree))
    if isinstance(tree, dict):
        return {k: nested(function, t) for k, t in tree.items()}
    if isinstance(tree, np.ndarray):
        leaves = [function(int(i)) for i in tree.ravel()]
        return np.array(leaves).reshape(tree.shape)
    return function(int(tree))
