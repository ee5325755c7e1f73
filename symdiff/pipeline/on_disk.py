"""Optimized programs on disk, with what validation found."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.ir import Expr, decode, encode
from symdiff.ir.program import Made, OptimizedProgram, Program, Tree


def packed(
    optimized: OptimizedProgram,
    wrong: Sequence[tuple[str, Expr]],
    without: Iterable[str] = (),
    fault: Any = None,
) -> bytes:
    """A program, what to warn of, and what was switched off and why."""
    count = len(optimized.outputs)
    outputs = *optimized.outputs, *optimized.reference, optimized.special, optimized.wrong
    rows = encode((*outputs, *(e for _, e in wrong)))
    texts = tuple(t for t, _ in wrong)
    seen = None if fault is None else (fault.point, fault.output, fault.got, fault.truth)
    off = tuple(sorted(without))
    return marshal.dumps(
        (optimized.params, plain_tree(optimized.tree), count, texts, rows, off, seen)
    )


def unpacked(
    raw: Program, data: bytes
) -> tuple[OptimizedProgram, list[tuple[str, Expr]], frozenset[str], Any]:
    """What was packed, of a captured program."""
    params, tree, count, texts, rows, off, seen = marshal.loads(data)
    roots = decode(rows)
    nested = tree_of(tree, raw.tree)
    outputs, reference, (special, known, *nodes) = (
        roots[:count],
        roots[count : 2 * count],
        roots[2 * count :],
    )
    optimized = OptimizedProgram(raw.name, params, nested, outputs, reference, special, known)
    fault = None
    if seen is not None:
        from symdiff.pipeline.validation.oracle import Fault

        fault = Fault(*seen)
    return optimized, list(zip(texts, nodes, strict=True)), frozenset(off), fault


def plain_tree(tree: Tree) -> Any:
    """A tree in types that marshal writes; arrays are marked."""
    if isinstance(tree, np.ndarray):
        return "array", (tree.shape, tree.dtype.char), [int(i) for i in tree.ravel()]
    if isinstance(tree, dict):
        return "dict", list(tree), [plain_tree(t) for t in tree.values()]
    if isinstance(tree, Made):
        return "made", tree.named, [plain_tree(t) for t in tree]
    if isinstance(tree, (tuple, list)):
        return type(tree).__name__, None, [plain_tree(t) for t in tree]
    return int(tree)


def tree_of(plain: Any, captured: Tree) -> Tree:
    """The tree again; the classes of objects in it are those of the tree of the captured program."""
    return _tree(plain, _classes(captured, {}))


def _tree(plain: Any, classes: Mapping[str, type]) -> Tree:
    if isinstance(plain, int):
        return plain
    kind, how, items = plain
    if kind == "array":
        shape, char = how
        return np.array(items, char).reshape(shape)
    trees = [_tree(t, classes) for t in items]
    if kind == "dict":
        return dict(zip(how, trees, strict=True))
    if kind == "made":
        return Made.of(classes[how], trees)
    return tuple(trees) if kind == "tuple" else trees


def _classes(tree: Tree, found: dict[str, type]) -> dict[str, type]:
    """The classes of objects in a tree, by their names."""
    if isinstance(tree, Made):
        found[tree.named] = tree.made_of
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        for t in tree:
            _classes(t, found)
    return found
