"""The nesting of derivatives, in terms of the nesting of the outputs of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symdiff.ir.program import Tree, folded, like


def bundle(items: list[Tree]) -> Tree:
    """One parameter gives its entry, several give a tuple."""
    return items[0] if len(items) == 1 else tuple(items)


def joined(first: Tree, count: int, second: Tree) -> Tree:
    """Both trees as a pair; the outputs of the second follow the `count` of the first."""
    return (first, nested(lambda i: i + count, second))


def of_gradient(params: int) -> Tree:
    """The tree of the derivatives of one output by some parameters."""
    return bundle(list(range(params)))


def of_jacobian(tree: Tree, params: int) -> Tree:
    """The tree of a Jacobian, whose outputs are numbered output by output."""
    return nested(lambda i: bundle([i * params + j for j in range(params)]), tree)


def nested(function: Callable[[Any], Tree], tree: Tree) -> Tree:
    """A tree with something else for each output, and for each array of outputs."""
    return folded(tree, function, function, like)
