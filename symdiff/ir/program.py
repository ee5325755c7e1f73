"""A captured function: its parameters and its outputs as one expression DAG.

Loops over values known when traced are unrolled and branches on real values
are `where` nodes, so a scalar program is a pure DAG. Every pass takes and
returns a `Program`; between passes `symdiff.ir.verify.scalar.faults` finds nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from symdiff.errors import Location, SymdiffError
from symdiff.ir import FALSE, Expr, topological, where
from symdiff.ir.complex_values import PAIRS
from symdiff.ir.loop_program import Stretches
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Tree = Any
"""How outputs nest in what the function returns: an index into `outputs`, or a
tuple, list, dict, `Made` object or NumPy integer array of trees."""

MOST_COMPILED = 200
"""The most outputs for which it pays to compile how they nest."""


class Made(tuple[Any, ...]):
    """How the fields of an object of a user's class nest: a named tuple or a dataclass; or the parts
    of a complex number.

    Attributes
    ----------
    made_of : the class.
    """

    made_of: type

    @classmethod
    def of(cls, made_of: type, parts: Iterable[Tree]) -> Made:
        """The tree of an object with these fields."""
        made = cls(parts)
        made.made_of = made_of
        return made

    def __repr__(self) -> str:
        return f"{self.named}{tuple(self)!r}"

    @property
    def named(self) -> str:
        """The class and its fields, in words."""
        kind = self.made_of
        return f"{kind.__module__}.{kind.__qualname__}({', '.join(self.keys)})"

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the fields."""
        return fields_of(self.made_of)

    def parts_of(self, value: Any) -> tuple[Any, ...] | None:
        """The fields of an object; None if it does not have them."""
        if isinstance(value, tuple):
            return tuple(value) if len(value) == len(self) else None
        missing = object()
        parts = tuple(getattr(value, k, missing) for k in self.keys)
        return None if any(p is missing for p in parts) else parts


def fields_of(made_of: type) -> tuple[str, ...]:
    """The names of the fields of a named tuple, dataclass or complex number."""
    if made_of in PAIRS:
        return "real", "imag"
    if issubclass(made_of, tuple):
        return tuple(made_of._fields)  # type: ignore[attr-defined]
    return tuple(f.name for f in dataclasses.fields(made_of))  # type: ignore[arg-type]


def imaginary_parts(tree: Tree) -> list[int]:
    """The outputs that are imaginary parts of complex results."""
    if isinstance(tree, Made) and tree.made_of in PAIRS:
        return [tree[1]] if isinstance(tree[1], int) else [int(k) for k in tree[1].ravel()]
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    if not isinstance(tree, (tuple, list)):
        return []
    return [k for part in tree for k in imaginary_parts(part)]


HOLOMORPHIC = "of a holomorphic function use symdiff.{}(f, holomorphic=True)"
"""The message for a complex function without a single derivative."""


def needs_one_value(program: Any, what: str, returned: str) -> SymdiffError:
    """The refusal of a derivative of a function that does not return one real number."""
    if isinstance(program.tree, Made) and program.tree.made_of is complex:
        returned, hint = "a complex number", HOLOMORPHIC.format(what)
    else:
        hint = "use jacobian for functions that return several values, or vjp"
    return SymdiffError(
        f"{what} needs a function of one real value, but {program.name} returns {returned}",
        hint=hint,
    )


def made_object(made_of: type, parts: Iterable[Any]) -> Any:
    """An object with these fields, made without its constructor, whose effects already happened."""
    return maker(made_of)(*parts)


@functools.lru_cache(maxsize=256)
def maker(made_of: Any) -> Callable[..., Any]:
    """What makes objects of a class of their fields."""
    if made_of in PAIRS:
        return PAIRS[made_of]
    if issubclass(made_of, tuple):
        return lambda *parts: tuple.__new__(made_of, parts)
    new, put, keys = object.__new__, object.__setattr__, fields_of(made_of)

    def make(*parts: Any) -> Any:
        made: Any = new(made_of)
        for key, part in zip(keys, parts, strict=True):
            put(made, key, part)
        return made

    return make


def like(tree: Tree, parts: Iterable[Tree]) -> Tree:
    """A tuple, list or object of other trees."""
    if isinstance(tree, Made):
        return Made.of(tree.made_of, parts)
    return list(parts) if isinstance(tree, list) else tuple(parts)


def holding(tree: Tree, parts: Iterable[Any]) -> Any:
    """The container of these parts that is returned for a tuple, list or object of trees."""
    if isinstance(tree, Made):
        return made_object(tree.made_of, parts)
    return list(parts) if isinstance(tree, list) else tuple(parts)


@dataclass(frozen=True, slots=True)
class Corner:
    """An output whose value differs from its formula at a point: its index, condition and value."""

    output: int
    condition: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Program:
    """One function, specialised on its static arguments.

    Attributes
    ----------
    name : the function's name.
    params : names of the real parameters, in order; each is a `VAR` node.
    outputs : the real values that the function returns, flattened.
    tree : how the outputs nest.
    domain : conditions on the parameters that hold wherever the function is defined (guarded by
        the branch that contains them); outside the value is nan.
    assumptions : conditions the user asserted.
    locations : first place in the source of each node that has one.
    stretches : of an elementwise function of arrays, where axes of size 1 are repeated.
    taken : how it takes arrays, in words.
    kinds : the kind of each output in Python: "f" for a float, "i" for an int, "b" for a truth
        value; empty if all are floats.
    corners : where outputs have other values than their formulas, which are undefined there.
    of_python : whether it holds for Python's numbers only: NumPy adds truth values otherwise.
    slopes : the zeros at which signs from slopes of absolute values jump: these have sides, as have
        the derivatives that contain them; signs that a user wrote are steps.
    of_derivatives : whether it contains derivatives of other functions: their kinks have sides.
    changes : parameters whose arrays it changes, or whose identity it tests.
    own : for each output, the indices of the domain conditions that it needs; empty if each needs
        all.
    """

    name: str
    params: tuple[str, ...]
    outputs: tuple[Expr, ...]
    tree: Tree = 0
    domain: tuple[Expr, ...] = ()
    assumptions: tuple[Expr, ...] = ()
    locations: Mapping[Expr, Location] = field(default_factory=dict, compare=False)
    stretches: Stretches = field(default=Stretches(), compare=False)
    taken: str = field(default="", compare=False)
    kinds: tuple[str, ...] = ()
    corners: tuple[Corner, ...] = ()
    slopes: tuple[Expr, ...] = ()
    of_derivatives: bool = False
    of_python: bool = field(default=False, compare=False)
    changes: tuple[str, ...] = field(default=(), compare=False)
    own: tuple[tuple[int, ...], ...] = ()

    def domain_of(self, outputs: Iterable[int]) -> tuple[Expr, ...]:
        """The conditions that some of the outputs need."""
        if not self.own:
            return self.domain
        needed = {i for k in outputs for i in self.own[k]}
        return tuple(c for i, c in enumerate(self.domain) if i in needed)

    def __str__(self) -> str:
        """Its outputs, and its domain, as assignments: shared subexpressions have names."""
        from symdiff.ir.formula_text import assignments

        groups = (self.outputs, self.domain, self.assumptions)
        named, texts = assignments([e for group in groups for e in group])
        count, known = len(self.outputs), len(self.outputs) + len(self.domain)
        lines = [f"{self.name}({', '.join(self.params)})"]
        lines += [f"  {name} = {text}" for name, text in named]
        lines += [f"  [{i}] = {text}" for i, text in enumerate(texts[:count])]
        lines += [f"  domain: {text}" for text in texts[count:known]]
        lines += [f"  assumed: {text}" for text in texts[known:]]
        return "\n".join(lines)

    def place(self, e: Expr) -> Location | None:
        """The place in the source of the node, or of the nearest node below it."""
        below = (e, *reversed(topological((e,))))
        return next((self.locations[n] for n in below if n in self.locations), None)


def with_corners(program: Program, joined: Callable[[Expr, Expr, Expr], Expr] = where) -> Program:
    """The program with the values at its corners in its outputs, put there by `joined`."""
    if not program.corners:
        return program
    outputs = list(program.outputs)
    for c in program.corners:
        outputs[c.output] = joined(c.condition, c.value, outputs[c.output])
    return replace(program, outputs=tuple(outputs), corners=())


@dataclass(frozen=True, slots=True)
class OptimizedProgram:
    """The contents of a kernel.

    Attributes
    ----------
    name, params, tree : as in the program.
    outputs : the values to compile; completed points are bands of polynomials.
    reference : the same values in closed form, undefined at completed points.
    special : where outputs are derivatives by the definition, not by the formulas.
    wrong : where formulas of derivatives were found wrong; part of `special`.
    """

    name: str
    params: tuple[str, ...]
    tree: Tree
    outputs: tuple[Expr, ...]
    reference: tuple[Expr, ...]
    special: Expr = FALSE
    wrong: Expr = FALSE

    def nested(self, values: Sequence[Any]) -> Any:
        """The values of the outputs, as the function returns them."""
        return map_tree(values.__getitem__, self.tree)


NESTS = {"l": list, "t": tuple}
"""The kinds of lists and tuples that are computed as arrays: "llf" is a list of lists."""


def nested(kinds: Sequence[str]) -> bool:
    """Whether a result is an array here and a list or tuple in Python."""
    return any(kind[0] in NESTS for kind in kinds)


def _nested(value: Any, nest: str) -> Any:
    """The first axes of an array as lists or tuples."""
    if not nest:
        return value
    return NESTS[nest[0]](_nested(v, nest[1:]) for v in value)


def in_python(values: Sequence[Any], kinds: Sequence[str]) -> list[Any]:
    """Results of the types that plain Python gives: floats, ints or truth values, or arrays of
    them. Values that are not finite stay floats, and so do arrays beyond 64 bits."""
    if not kinds:
        return list(values)
    return [_in_python(v, kind) for v, kind in zip(values, kinds, strict=True)]


def _in_python(value: Any, kind: str) -> Any:
    if kind[0] in NESTS:
        return _nested(_in_python(value, kind[-1]), kind[:-1])
    if not isinstance(value, np.ndarray):
        if kind == "f":
            return float(value) if type(value) is int else value
        return (bool if kind == "b" else int)(value) if math.isfinite(value) else value
    if value.dtype.kind != "f" or kind == "f" or not (np.abs(value) < 2.0**63).all():
        return value
    return value.astype(bool if kind == "b" else np.int64)


def folded(
    tree: Tree,
    leaf: Callable[[int], Any],
    array: Callable[[Any], Any],
    make: Callable[[Tree, Iterable[Any]], Any] = holding,
) -> Any:
    """A tree, folded: `leaf` maps an index, `array` an array of indices, and `make` a tuple, list
    or object of trees together with its parts."""
    if isinstance(tree, np.ndarray):
        return array(tree)
    if isinstance(tree, (tuple, list)):
        return make(tree, (folded(t, leaf, array, make) for t in tree))
    if isinstance(tree, dict):
        return {k: folded(t, leaf, array, make) for k, t in tree.items()}
    return leaf(int(tree))


def map_objects(
    function: Callable[[int], Any],
    tree: Tree,
    make: Callable[[Tree, Iterable[Any]], Any] = holding,
    array: Callable[[Any], Any] = lambda a: a,
) -> Any:
    """`map_tree` for leaves that NumPy should keep as objects; `make` makes tuples, lists and
    objects, and `array` a container, of an array of objects."""

    def objects(t: Any) -> Any:
        result = np.empty(t.shape, object)
        for index, i in np.ndenumerate(t):
            result[index] = function(int(i))
        return array(result)

    return folded(tree, function, objects, make)


def tree_text(tree: Tree, leaf: Callable[[int], str], array: Callable[[Any], str]) -> str:
    """The Python expression that nests results as a tree: `leaf` is the text of one result, `array`
    that of an array of them."""
    if isinstance(tree, np.ndarray):
        return array(tree)
    if isinstance(tree, dict):
        for key in tree:
            if not _is_literal(key):
                raise SymdiffError(f"a dict with the key {key!r} cannot be written to a module")
        return "{" + ", ".join(f"{k!r}: {tree_text(t, leaf, array)}" for k, t in tree.items()) + "}"
    if not isinstance(tree, (tuple, list)):
        return leaf(int(tree))
    if isinstance(tree, Made) and tree.made_of in PAIRS:
        raise SymdiffError(
            "complex results, in a module or a function that Numba compiles",
            hint="return the parts: z.real, z.imag",
        )
    items = ", ".join(tree_text(t, leaf, array) for t in tree)
    if isinstance(tree, list):
        return f"[{items}]"
    return f"({items},)" if len(tree) == 1 else f"({items})"


def _is_literal(key: Any) -> bool:
    """Whether the text of a value is a Python expression of the value."""
    if type(key) is tuple:
        return all(map(_is_literal, key))
    return type(key) in (str, int, bool, type(None)) or (type(key) is float and math.isfinite(key))


def flatten_like(tree: Tree, value: Any, count: int, what: str) -> list[Any]:
    """The leaves of a value that is nested as a tree, in the order of the outputs.

    Where the tree has an array, the value has an array (or nested lists) with the
    same leading shape; a leaf that is None stays None.

    Raises
    ------
    SymdiffError : if the value is nested otherwise; `what` names it.
    """
    flat: list[Any] = [None] * count

    def visit(t: Tree, v: Any) -> None:
        if type(t) is int:
            flat[t] = v
        elif isinstance(t, np.ndarray):
            array = np.asarray(v)
            if array.shape[: t.ndim] != t.shape:
                raise SymdiffError(f"{what} must have the shape {t.shape} here, not {array.shape}")
            for index, i in np.ndenumerate(t):
                flat[int(i)] = array[(*index, ...)]  # a view, also of a single element
        elif isinstance(t, dict):
            if not isinstance(v, dict) or v.keys() != t.keys():
                raise SymdiffError(f"{what} must be a dict with the keys {list(t)} here")
            for k in t:
                visit(t[k], v[k])
        elif isinstance(t, Made):
            parts = t.parts_of(v)
            if parts is None:
                raise SymdiffError(f"{what} must have the fields {', '.join(t.keys)} here")
            for a, b in zip(t, parts, strict=True):
                visit(a, b)
        elif isinstance(t, (tuple, list)):
            if not isinstance(v, (tuple, list, np.ndarray)) or len(v) != len(t):
                raise SymdiffError(f"{what} must have {len(t)} entries here")
            for a, b in zip(t, v, strict=True):
                if type(a) is int:
                    flat[a] = b
                else:
                    visit(a, b)
        else:
            flat[int(t)] = v

    visit(tree, value)
    return flat


def nesting(tree: Tree, count: int) -> Callable[[Sequence[Any]], Any]:
    """`map_tree` for the outputs of many calls, compiled once as an expression."""
    keys: dict[str, Any] = {}

    def text(t: Tree) -> str:
        if isinstance(t, dict):
            parts = []
            for k, a in t.items():
                keys[name := f"k{len(keys)}"] = k
                parts.append(f"{name}: {text(a)}")
            return "{" + ", ".join(parts) + "}"
        if isinstance(t, (tuple, list)):
            inside = "".join(f"{text(a)}, " for a in t)
            if isinstance(t, Made):
                keys[name := f"k{len(keys)}"] = functools.partial(made_object, t.made_of)
                return f"{name}(({inside}))"
            return f"({inside})" if isinstance(t, tuple) else f"[{inside}]"
        if isinstance(t, np.ndarray):
            raise TypeError
        return f"v[{int(t)}]"

    try:
        if count <= MOST_COMPILED:
            made: Callable[[Sequence[Any]], Any] = eval(f"lambda v: {text(tree)}", keys)
            return made
    except TypeError:
        pass
    return lambda values: map_tree(values.__getitem__, tree)


def unnesting(entry: Callable[..., Any], inputs: int, tree: Tree, count: int) -> Callable[..., Any]:
    """`entry(*args, *flatten_like(tree, out, ...))` of many calls, with `inputs` arguments before
    `out`, compiled for tuples."""

    def general(*given: Any) -> Any:
        return entry(*given[:-1], *flatten_like(tree, given[-1], count, "out"))

    checks: list[str] = []
    places: dict[int, str] = {}
    stack: list[tuple[Tree, str]] = [(tree, "v")]
    while stack:
        t, at = stack.pop()
        if isinstance(t, tuple):
            checks.append(f"type({at}) is tuple and len({at}) == {len(t)}")
            stack += [(a, f"{at}[{k}]") for k, a in enumerate(t)][::-1]
        elif isinstance(t, int):
            places[t] = at
    if len(places) < count or count + inputs > MOST_COMPILED:
        return general
    args = "".join(f"a{k}, " for k in range(inputs))
    flat = "".join(f"{places[i]}, " for i in range(count))
    test = " and ".join(checks) or "True"
    text = f"lambda {args}v: entry({args}{flat}) if {test} else general({args}v)"
    made: Callable[..., Any] = eval(text, {"entry": entry, "general": general})
    return made


NONE_OF_KIND = {"i": "i", "b": "?"}
KINDS_OF_NONE = {"i": "int", "?": "bool"}
"""The types of indices in the tree of an array without elements, which no output shows."""


def map_tree(function: Callable[[int], Any], tree: Tree) -> Any:
    """Replace every index of a tree by `function(index)`, keeping the containers."""
    if isinstance(tree, Made):
        return made_object(tree.made_of, [map_tree(function, t) for t in tree])
    if isinstance(tree, tuple):
        return tuple([function(t) if type(t) is int else map_tree(function, t) for t in tree])
    if isinstance(tree, list):
        return [map_tree(function, t) for t in tree]
    if isinstance(tree, dict):
        return {k: map_tree(function, t) for k, t in tree.items()}
    if isinstance(tree, np.ndarray):
        leaves = [function(int(i)) for i in tree.ravel()]
        if leaves and isinstance(leaves[0], np.ndarray):
            return np.stack(leaves).reshape(tree.shape + leaves[0].shape)
        return np.array(leaves, None if leaves else KINDS_OF_NONE.get(tree.dtype.char)).reshape(
            tree.shape
        )
    return function(int(tree))
