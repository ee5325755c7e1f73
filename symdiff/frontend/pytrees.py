"""Containers of numbers and arrays as arguments: trees, whose leaves are the parameters.

Before:  f({"w": w, "b": [b, 2.0]})
After:   f_(w, b, 2.0), traced with p = {"w": p_w, "b": [p_b_0, p_b_1]}

Lists, tuples, named tuples, dicts and dataclasses are nodes. So are complex numbers and arrays of
them, whose leaves are their parts, in doubles. None, strings, and truth values in containers are
fixed: another value makes another tree. Everything else is a leaf.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.errors import SymdiffError
from symdiff.frontend.trace.values import ComplexNumber, Record, is_complex
from symdiff.ir.complex_values import PAIRS
from symdiff.ir.program import Made, Tree, holding, made_object

MOST = 2000
"""Leaves of the arguments of a call."""

_PLAIN = frozenset((float, int, bool, np.float64, np.float32, np.int64))


@dataclass(frozen=True, slots=True)
class Node:
    """How one argument nests.

    Attributes
    ----------
    kind : "leaf", "fixed", "list", "tuple", "dict", "named", "data" or "complex".
    made_of : the class of a named tuple or dataclass, or of a fixed value.
    keys : of a dict, or the fields of a dataclass.
    children : its parts, in order.
    value : the fixed value.
    """

    kind: str = "leaf"
    made_of: type | None = None
    keys: tuple[Any, ...] = ()
    children: tuple[Node, ...] = ()
    value: Any = None


LEAF = Node()
COMPLEX = Node("complex", None, ("real", "imag"), (LEAF, LEAF))
Trees = Mapping[str, tuple[Node, tuple[str, ...]]]
"""For parameters that are containers, how they nest and the names of their leaves."""


_ARRAYS = ("__array__", "__array_interface__", "__cuda_array_interface__", "__dlpack__")
"""The attributes that mark an object as an array, whatever its class."""


def is_container(value: Any) -> bool:
    """Whether an argument is a tree and not a leaf."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype.char in "FD"
    if kind in _PLAIN:
        return False
    if value is None or isinstance(value, (str, list, tuple, dict)) or has_parts(value):
        return True
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return False
    if any(hasattr(type(value), name) for name in _ARRAYS):
        return False
    return not type(value).__module__.startswith("symdiff.")


def has_parts(value: Any) -> bool:
    """Whether an argument, traced or not, is a complex number or an array of them; those with more
    digits than two doubles are refused."""
    if type(value) in (np.ndarray, np.memmap):
        return value.dtype.char in "FD"
    return isinstance(value, (complex, np.complex64)) or is_complex(value)


def parts_of(value: Any) -> tuple[Any, Any]:
    """The real and the imaginary part of a complex number or array, in doubles; the parts of an
    array are views of it."""
    if is_complex(value):
        return value.fields["real"], value.fields["imag"]
    if isinstance(value, (np.ndarray, np.generic)):
        wide = np.asarray(value, np.complex128)[()]
        return wide.real, wide.imag
    return value.real, value.imag


def flatten(value: Any, name: str, names: list[str], leaves: list[Any]) -> Node:
    """How a value nests; its leaves and their names are appended to the lists."""
    if value is None or isinstance(value, (str, bool)):
        return Node("fixed", type(value), value=value)
    if not is_container(value):
        if len(leaves) >= MOST:
            raise SymdiffError(
                f"argument {name} holds more than {MOST} numbers or arrays",
                hint="pass an array: np.array(...)",
            )
        names.append(name)
        leaves.append(value)
        return LEAF
    keys: tuple[Any, ...]
    parts: Sequence[Any]
    if has_parts(value):
        kind, made_of, keys, parts = "complex", None, ("real", "imag"), parts_of(value)
    elif isinstance(value, dict):
        _only(dict, value, name)
        keys, parts = tuple(value), list(value.values())
        kind, made_of = "dict", None
    elif isinstance(value, (list, tuple)):
        named = hasattr(value, "_fields")
        if not named:
            _only(list if isinstance(value, list) else tuple, value, name)
        parts, keys = value, getattr(value, "_fields", tuple(range(len(value))))
        kind = "named" if named else "list" if isinstance(value, list) else "tuple"
        made_of = type(value) if named else None
    else:
        keys = tuple(f.name for f in dataclasses.fields(value))
        parts = [getattr(value, k) for k in keys]
        kind, made_of = "data", type(value)
    children = tuple(
        flatten(v, f"{name}_{_word(k, i)}", names, leaves)
        for i, (k, v) in enumerate(zip(keys, parts, strict=True))
    )
    return Node(kind, made_of, () if kind in ("list", "tuple") else keys, children)


def _only(plain: type, value: Any, name: str) -> None:
    if type(value) is not plain:
        raise SymdiffError(
            f"argument {name} is a {type(value).__name__}, which is more than a {plain.__name__}",
            hint=f"pass a {plain.__name__}",
        )


def _word(key: Any, position: int) -> str:
    return str(key) if str(key).isidentifier() or isinstance(key, int) else str(position)


def leaves_of(node: Node, value: Any, what: str) -> list[Any]:
    """The leaves of a value that must nest like a node; a real number counts as a complex one."""
    if node.kind == "complex" and not is_container(value):
        return [value, np.zeros(value.shape) if isinstance(value, np.ndarray) else 0.0]
    names: list[str] = []
    leaves: list[Any] = []
    if flatten(value, what, names, leaves) != node:
        raise SymdiffError(f"{what} must be nested as the argument is")
    return leaves


def alike(node: Node, value: Any) -> bool:
    """Whether a value nests like a node."""
    try:
        leaves_of(node, value, "")
    except SymdiffError:
        return False
    return True


def within(node: Node) -> Iterator[Node]:
    """A node and all nodes in it."""
    yield node
    for child in node.children:
        yield from within(child)


def count(node: Node) -> int:
    """The number of leaves."""
    return 1 if node.kind == "leaf" else sum(map(count, node.children))


def has_complex(node: Node) -> bool:
    """Whether a node contains a complex number or array."""
    return node.kind == "complex" or any(map(has_complex, node.children))


Pair = Callable[[Any, Any], Any]
"""Makes a complex number from its parts."""


def unflatten(node: Node, leaves: Iterator[Any], pair: Pair = PAIRS[complex]) -> Any:
    """The tree of these leaves in Python; `pair` makes complex numbers from their parts."""
    match node.kind:
        case "leaf":
            return next(leaves)
        case "fixed":
            return node.value
    parts = [unflatten(c, leaves, pair) for c in node.children]
    match node.kind:
        case "complex":
            return pair(*parts)
        case "list":
            return parts
        case "tuple":
            return tuple(parts)
        case "dict":
            return dict(zip(node.keys, parts, strict=True))
    assert node.made_of is not None
    return made_object(node.made_of, parts)


def traced_pair(real: Any, imag: Any) -> Record:
    """A complex number as a traced value."""
    return Record(ComplexNumber, {"real": real, "imag": imag})


def class_of(value: Record) -> type | None:
    """The parts of a traced object in a tree of results; None if it cannot be returned."""
    if is_complex(value):
        return complex
    return value.made_of if dataclasses.is_dataclass(value.made_of) else None


def as_traced(tree: Tree, parts: Iterable[Any]) -> Any:
    """The traced value of a tuple, list or object of trees in a result."""
    if isinstance(tree, Made) and tree.made_of is complex:
        return traced_pair(*parts)
    if isinstance(tree, Made) and not issubclass(tree.made_of, tuple):
        return Record(tree.made_of, dict(zip(tree.keys, parts, strict=True)))
    return holding(tree, parts)


def traced(node: Node, leaves: Iterator[Any]) -> Any:
    """The tree of these leaves as traced values."""
    if node.kind == "data":
        assert node.made_of is not None
        parts = [traced(c, leaves) for c in node.children]
        return Record(node.made_of, dict(zip(node.keys, parts, strict=True)))
    if node.kind in ("leaf", "fixed", "complex"):
        return unflatten(node, leaves, traced_pair)
    parts = [traced(c, leaves) for c in node.children]
    if node.kind == "dict":
        return dict(zip(node.keys, parts, strict=True))
    if node.kind == "named":
        assert node.made_of is not None
        return node.made_of(*parts)
    return parts if node.kind == "list" else tuple(parts)
