"""A run as Python source: straight lines, and the guards under which a call takes the same path.

Before:  a run of  x * y if x > y else math.sin(x)  at x = 2.0, y = 1.0

After:   def path(x, y):              def replayed(x, y):
             _t3 = x * y                  if not x > y: return None
             return _t3                   _t3 = x * y
                                          return (_t3,)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.frontend import pytrees
from symdiff.frontend.by_value import outputs
from symdiff.frontend.by_value.reals import REMAINDER, Real
from symdiff.frontend.by_value.sweeps import reached
from symdiff.ir import ABS, ADD, DIV, MUL, NEG, OPS, POW, SUB, VAR, Op

_WRITTEN = {
    ADD: "{} + {}", SUB: "{} - {}", MUL: "{} * {}", DIV: "{} / {}", NEG: "-{}", ABS: "abs({})", POW: "{} ** {}",
    OPS["floor_quotient"]: "{} // {}", REMAINDER: "{} % {}",
}  # fmt: skip


class NoSource(Exception):  # noqa: N818  (no error of the user)
    """A run that is not kept as source."""


@dataclass(frozen=True, slots=True)
class PathSource:
    """Two functions of the arguments that have derivatives.

    Attributes
    ----------
    path : the result, of which derivatives are those of the run.
    replayed : the result in a tuple, or None where the call takes another path.
    """

    path: str
    replayed: str


def path_source(
    names: Sequence[str], nodes: Sequence[pytrees.Node], leaves: Sequence[Any],
    scalars: Sequence[Sequence[Real]], result: Any, guards: Sequence[tuple[str, Any, Any]],
) -> PathSource:  # fmt: skip
    """The source of a run.

    Parameters
    ----------
    names, nodes, leaves : the parameters, how they nest, and their leaves.
    scalars : those of each leaf.
    result, guards : of the run.

    Raises
    ------
    NoSource : if it has none.
    """
    if any(map(outputs.is_complex, outputs.leaves(result))):
        raise NoSource
    roots = [x for leaf in outputs.leaves(result) for x in outputs.elements(leaf)]
    if not any(type(x) is Real for x in roots):
        raise NoSource
    text: dict[int, str] = {}
    places = (p for name, node in zip(names, nodes, strict=True) for p in _places(name, node))
    for place, leaf, inside in zip(places, leaves, scalars, strict=True):
        if not isinstance(leaf, np.ndarray):
            text[inside[0].n] = place
            continue
        for at, x in zip(np.ndindex(*leaf.shape), inside, strict=True):
            text[x.n] = f"{place}[{', '.join(map(str, at))}]"
    head = f"({', '.join(names)}):"
    body = [f"    {line}" for _, line in _lines(reached(roots), text)]
    returned = _literal(result, text)
    return PathSource(
        "\n".join([f"def path{head}", *body, f"    return {returned}", ""]),
        "\n".join([f"def replayed{head}", *_guarded(roots, guards, text), f"    return ({returned},)", ""]),
    )  # fmt: skip


def _guarded(
    roots: Sequence[Any], guards: Sequence[tuple[str, Any, Any]], text: dict[int, str]
) -> list[str]:
    """The lines of a replay, with each guard as soon as its numbers are known."""
    checks: dict[int, dict[str, None]] = {}
    for symbol, a, b in guards:
        test = (
            f"isfinite({_term(a, text)})"
            if symbol == "-"
            else f"{_term(a, text)} {symbol} {_term(b, text)}"
        )
        last = max(x.n for x in (a, b) if type(x) is Real)
        checks.setdefault(last, {})[f"    if not {test}: return None"] = None
    needed = reached([*roots, *(x for _, a, b in guards for x in (a, b))])
    found: list[str] = []
    lines = dict(_lines(needed, text))
    for x in needed:
        if x.n in lines:
            found.append(f"    {lines[x.n]}")
        found += checks.get(x.n, ())
    return found


def _places(name: str, node: pytrees.Node) -> Iterator[str]:
    """Python for each leaf of a parameter."""
    if node.kind == "leaf":
        yield name
        return
    keys: Sequence[Any] = node.keys or range(len(node.children))
    for key, child in zip(keys, node.children, strict=True):
        if node.kind in ("named", "data"):
            yield from _places(f"{name}.{key}", child)
        elif isinstance(key, (str, int)):
            yield from _places(f"{name}[{key!r}]", child)
        else:
            raise NoSource


def _lines(nodes: Sequence[Real], text: dict[int, str]) -> list[tuple[int, str]]:
    """A line for each operation."""
    return [
        (x.n, f"_t{x.n} = {_written(x).format(*[_term(a, text) for a in x.args])}")
        for x in nodes
        if x.op is not VAR
    ]


def _written(x: Real) -> str:
    """How Python writes an operation."""
    of_python = type(x.v) is float
    if x.op is POW and type(x.args[1]) is float and x.args[1] == 0.5:
        return "math.sqrt({})" if of_python else "np.sqrt({})"
    if x.op in _WRITTEN:
        return _WRITTEN[x.op]
    if not isinstance(x.op, Op):
        raise NoSource
    libraries = ("math.", "numpy.", "scipy.special.")
    names = [n for n in x.op.names if n.startswith(libraries)]
    names.sort(key=lambda n: (n.startswith("math.") is not of_python, len(n)))
    if not names:
        raise NoSource
    return f"{names[0].replace('numpy.', 'np.')}({', '.join(['{}'] * len(x.args))})"


def _term(a: Any, text: dict[int, str]) -> str:
    if type(a) is Real:
        return text.get(a.n) or f"_t{a.n}"
    if isinstance(a, (int, np.integer, np.bool_)):
        return f"({int(a)})"
    if not math.isfinite(a):
        raise NoSource
    return f"({float(a)!r})"


def _literal(result: Any, text: dict[int, str]) -> str:
    """Python for a result."""
    if isinstance(result, np.ndarray):
        listed = outputs.mapped_items(result, lambda x: _term(x, text))
        return f"np.array({listed})"
    if type(result) is dict:
        return "{" + ", ".join(f"{k!r}: {_literal(v, text)}" for k, v in result.items()) + "}"
    if type(result) in (list, tuple):
        inside = "".join(f"{_literal(v, text)}, " for v in result)
        return f"[{inside}]" if type(result) is list else f"({inside})"
    if isinstance(result, (Real, float, int, np.generic)) or type(result) is Real:
        return _term(result, text)
    raise NoSource
