"""Arguments that are trees, in the names of their leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symdiff.frontend import (
    Parameters,
    Trees,
    pytrees,
)
from symdiff.ir.loop_program import Names


def named_leaves(parameters: Parameters, nodes: Sequence[pytrees.Node]) -> Trees:
    """What the leaves of arguments are called."""
    names = Names(parameters.names)
    found = {}
    for name, node in zip(parameters.real, nodes, strict=True):
        leaves: list[str] = []
        if node.kind == "leaf":
            leaves.append(name)
        else:
            name_leaves(node, name, names, leaves)
        found[name] = node, tuple(leaves)
    return found


def name_leaves(node: pytrees.Node, name: str, names: Names, found: list[str]) -> None:
    if node.kind == "leaf":
        found.append(names.fresh(name))
    for k, child in enumerate(node.children):
        key = node.keys[k] if node.keys and str(node.keys[k]).isidentifier() else k
        name_leaves(child, f"{name}_{key}", names, found)


def at_leaves(group: Callable[[Any], Any], tree: Any, result: Any) -> Any:
    """Group the derivatives of each output."""
    if isinstance(tree, dict):
        return {k: at_leaves(group, t, result[k]) for k, t in tree.items()}
    if isinstance(tree, (tuple, list)):
        return type(tree)(at_leaves(group, t, r) for t, r in zip(tree, result, strict=True))
    return group(result)
