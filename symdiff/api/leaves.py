"""Arguments that are trees, in the names of their leaves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.api import per_slope
from symdiff.errors import SymdiffError
from symdiff.frontend import (
    Inlined,
    Parameters,
    Placed,
    Trees,
    include,
    pytrees,
)
from symdiff.ir.complex_values import PAIRS, Conjugate
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.names import Names
from symdiff.ir.program import HOLOMORPHIC, Made, holding, imaginary_parts, map_objects

Function = Any
"""A `SymbolicFunction`, which imports this."""


def leaves_of(f: Function, real: Sequence[Any]) -> tuple[tuple[pytrees.Node, ...], list[Any]]:
    """How arguments nest, and the numbers and arrays in them; which are looked at when the
    function of those is called."""
    leaves: list[Any] = []
    names = f._source.parameters.real
    nodes = [pytrees.flatten(v, n, [], leaves) for n, v in zip(names, real, strict=True)]
    return tuple(nodes), leaves


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
        parts = tree.parts_of(result) or () if isinstance(tree, Made) else result
        return holding(tree, (at_leaves(group, t, r) for t, r in zip(tree, parts, strict=True)))
    return group(result)


def must_be_defined(self: Function, nodes: Sequence[pytrees.Node]) -> None:
    """Refuse derivatives that are not defined for arguments that nest in this way."""
    kind, by = self._source.path[-1]
    if not (chosen := _chosen(self, by, nodes)):
        raise SymdiffError(
            f"cannot differentiate {self.__name__} by {', '.join(by)}: no real number is passed",
            hint="None and strings say what is computed",
        )
    if any(map(pytrees.has_complex, chosen)):
        _must_be_of_complex(self, kind)
    if kind == "derivative" and any(n.kind != "leaf" for n in chosen):
        raise SymdiffError(
            f"{self.__name__} is not defined for containers",
            hint="grad, jacobian, hessian, jvp, vjp and hvp of the function are",
        )
    if kind in ("derivative", "jacobian") or _gives_numbers(self._parent, nodes):
        return
    raise SymdiffError(
        f"{self.__name__} is of several numbers, as {self._parent.__name__} has those of containers",
        hint="use jacobian",
    )


def _must_be_of_complex(self: Function, kind: str) -> None:
    """Refuse derivatives by complex numbers that are not one complex number for each result."""
    hints = {
        "derivative": "use grad, or symdiff.grad(f, holomorphic=True) of a holomorphic function",
        "hessian": "pass the real and the imaginary part as two arguments",
        "hvp": "pass the real and the imaginary part as two arguments",
    }
    hint = hints.get(kind)
    if hint is None and self._parent._source.path:
        hint = f"differentiate a function of one real number that calls {self._parent.__name__}"
    if hint is not None:
        raise SymdiffError(f"{self.__name__} is not defined for complex arguments", hint=hint)


def _chosen(self: Function, by: Sequence[str], nodes: Sequence[pytrees.Node]) -> list[pytrees.Node]:
    """How the parameters nest that the last step differentiates by: not those that are None or
    strings in this call."""
    real = self._source.parameters.real
    return [n for n in (nodes[real.index(name)] for name in by) if n.kind != "fixed"]


def _gives_numbers(self: Function, nodes: Sequence[pytrees.Node]) -> bool:
    """Whether the results are not nested as the arguments are."""
    if not self._source.path:
        return True
    kind, by = self._source.path[-1]
    chosen = _chosen(self, by, nodes)
    plain = kind == "derivative" or (kind == "gradient" and [n.kind for n in chosen] == ["leaf"])
    return plain and _gives_numbers(self._parent, nodes)


def regrouped(
    self: Function,
    result: Any,
    nodes: Sequence[pytrees.Node],
    pair: pytrees.Pair = PAIRS[Conjugate],
) -> Any:
    """A result for leaves, nested as the arguments are; `pair` makes a slope by a complex number of those
    by its parts."""
    if not self._source.path:
        return result
    kind, by = self._source.path[-1]
    chosen = _real_ones(self, by, nodes)
    number = sum(map(pytrees.count, chosen))

    def group(flat: Any, inner: Callable[[Any], Any] = lambda v: v) -> Any:
        parts = list(flat) if number > 1 and isinstance(flat, tuple) else [flat]
        if len(parts) != number:
            raise SymdiffError(
                f"{self.__name__} of containers with integers among what is differentiated by",
                hint="pass real numbers, or choose with wrt=",
            )
        leaves = map(inner, parts)
        made = tuple([pytrees.unflatten(n, leaves, pair) for n in chosen])
        return made[0] if len(made) == 1 else made

    match kind:
        case "gradient" | "hvp":
            return group(result)
        case "value_and_gradient" | "vjp":
            return result[0], group(result[1])
        case "hessian":
            return group(result, group)
        case "jacobian":
            tree = _tree(self, nodes)
            if any(map(pytrees.has_complex, chosen)) and imaginary_parts(tree):
                raise SymdiffError(
                    f"{self._parent.__name__} is a complex function of complex numbers",
                    hint=HOLOMORPHIC.format("jacobian"),
                )
            return regrouped(self._parent, at_leaves(group, tree, result), nodes, pair)
    return result


def inlined(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> Inlined | Placed:
    """What is inlined where the function is called in one that is traced."""
    shapes = self._source.shapes(static, real)
    program = self._source.inlined(static, shapes)
    include(self._source.captures)
    if isinstance(program, LoopProgram) or any(s[0] for s in shapes.values()):
        program = replace(program, stretches=self._source.stretches(static, shapes))
        by = per_slope.when_traced(self._source, static, shapes, len(program.outputs))
        return Placed(program, tuple(real), by, bool(self._source.path))
    values = (v.item() if isinstance(v, np.ndarray) and v.ndim == 0 else v for v in real)
    mapping = {ir.var(n): ir.as_expr(v) for n, v in zip(program.params, values, strict=True)}
    groups = (program.outputs, program.domain, program.assumptions, program.slopes)
    found = iter(ir.substitute([e for group in groups for e in group], mapping))
    outputs, domain, met, slopes = (tuple(itertools.islice(found, len(g))) for g in groups)
    tree = map_objects(outputs.__getitem__, program.tree, pytrees.as_traced)
    return Inlined(tree, domain, met, slopes, bool(self._source.path))


def renested(
    self: Function, found: Inlined | Placed, nodes: Sequence[pytrees.Node]
) -> Inlined | Placed:
    """What is inlined for leaves, with derivatives nested as the arguments are."""
    if isinstance(found, Inlined):
        tree = regrouped(self, found.tree, nodes, lambda p, q: pytrees.traced_pair(p, -q))
        return replace(found, tree=tree)
    tree = found.program.tree
    tree = regrouped(self, tree, nodes, lambda p, q: Made.of(Conjugate, (p, q)))
    return replace(found, program=replace(found.program, tree=tree))


def _real_ones(
    self: Function, by: Sequence[str], nodes: Sequence[pytrees.Node]
) -> list[pytrees.Node]:
    """How those of the chosen parameters nest that are not made of integers only: there are no
    derivatives by the others."""
    root = self
    while root._parent is not None:
        root = root._parent
    program = next(reversed(root._twin(nodes)._source.captured.values()))
    if not isinstance(program, LoopProgram):
        return _chosen(self, by, nodes)
    found, first, kinds = [], 0, [p.type.kind for p in program.params]
    for name, node in zip(self._source.parameters.real, nodes, strict=True):
        last = first + pytrees.count(node)
        fixed = node.kind == "fixed"
        if name in by and not fixed and (first == last or "f" in kinds[first:last]):
            found.append((by.index(name), node))
        first = last
    return [node for _, node in sorted(found, key=lambda f: f[0])]


def _tree(self: Function, nodes: Sequence[pytrees.Node]) -> Any:
    """How the results nest that a Jacobian is of, for leaves."""
    parent = self._parent
    if not parent._source.path:
        found = parent._twin(nodes)._source
        return next(reversed(found.captured.values())).tree
    kind, by = parent._source.path[-1]
    number = sum(map(pytrees.count, _chosen(parent, by, nodes)))
    if kind == "gradient":
        return 0 if number == 1 else tuple(range(number))
    if kind == "derivative" and _gives_numbers(parent, nodes):
        return 0
    raise SymdiffError(
        f"{self.__name__} is not defined for containers",
        hint="Jacobians of the function and of its gradient are",
    )


def flattened(self: Function, out: Any, nodes: Sequence[pytrees.Node]) -> Any:
    """Places for results, nested as the arguments are, as those for results for leaves."""
    if not self._source.path or self._source.path[-1][0] == "derivative":
        return out
    kind, by = self._source.path[-1]
    if any(map(pytrees.has_complex, _chosen(self, by, nodes))):
        raise SymdiffError(f"out= of {self.__name__} by complex numbers", hint="leave it out")
    if kind == "value_and_gradient" and isinstance(out, tuple) and len(out) == 2:
        return out[0], _flat(self, by, out[1], nodes)
    if kind == "gradient":
        return _flat(self, by, out, nodes)
    raise SymdiffError(f"out= of {self.__name__} of containers", hint="leave it out")


def _flat(self: Function, by: Sequence[str], out: Any, nodes: Sequence[pytrees.Node]) -> Any:
    """Places for a gradient."""
    chosen = _chosen(self, by, nodes)
    by = [n for n in by if nodes[self._source.parameters.real.index(n)].kind != "fixed"]
    given = (out,) if len(by) == 1 else out
    if not isinstance(given, tuple) or len(given) != len(by):
        raise SymdiffError(f"out must have {len(by)} entries here")
    parts = [
        leaf
        for name, node, v in zip(by, chosen, given, strict=True)
        for leaf in pytrees.leaves_of(node, v, f"out for {name}")
    ]
    return parts[0] if len(parts) == 1 else tuple(parts)
