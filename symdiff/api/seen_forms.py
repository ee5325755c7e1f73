"""Forms of calls that were seen, for compiled code: see `symdiff.codegen.llvm.entry.binding`.

Before:  f(1.5, scale=2) takes the general path: bound, converted and checked in Python
After:   the next one goes to the compiled entry for three floats, without Python

A form is tried on the call that it was learnt from, and kept if it returns the same. Its entry checks values
as always; what a form adds are the classes of all arguments, as these decide the kinds of results.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from symdiff.api import whole_arguments
from symdiff.api.firstcalls import unwrapped
from symdiff.api.leaves import leaves_of, regrouped
from symdiff.api.whole_arguments import leaves_of_result
from symdiff.codegen.llvm.array_loop import EXACT
from symdiff.codegen.llvm.entry import binding
from symdiff.errors import SymdiffError
from symdiff.frontend import pytrees
from symdiff.ir.program import maker
from symdiff.runtime import builtin
from symdiff.runtime.dispatch import DispatchStub, refusing
from symdiff.runtime.forms import Form, Held, Row

Function = Any
"""A `SymbolicFunction`, which imports this."""

AT_ONCE = 4
"""Calls of some kind from each of which a form may be learnt; later ones are tried at powers of 2."""
_MOST_KINDS = 1024
_DTYPES = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64))
_SAME_DIGITS = 1e-9


class _UnsuitableError(Exception):
    """There is no form for a call."""


def learn(f: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> None:
    """After a call that took the general path: let compiled code serve others of its form."""
    kind = len(args), tuple(kwargs), tuple(map(type, (*args, *kwargs.values())))
    count = f._forms_tried[kind] = f._forms_tried.get(kind, 0) + 1
    if count > AT_ONCE and count & (count - 1):
        return
    if len(f._forms_tried) > _MOST_KINDS:
        f._forms_tried.clear()
    if not f._source.captures.prints and builtin.arrays_are_known():
        for convert in (False, True):
            try:
                form = _form(f, args, kwargs, result, convert)
            except (_UnsuitableError, SymdiffError):
                continue
            with f._opening:
                f._served.learn(form)
                f._enter(f._served.call)
            return


def ask(f: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What entries return for a call of a form that is new; NotImplemented if none serves it."""
    parameters = f._source.parameters
    in_order = not kwargs and not parameters.static and len(args) == len(parameters.names)
    if in_order or not f._selects or not kwargs.keys() <= {*parameters.names}:
        return NotImplemented
    real, static = parameters.bind(args, kwargs)
    entries = f._served.ask(static)
    result = NotImplemented if entries is None else entries(*real)
    if result is not NotImplemented:
        learn(f, args, kwargs, result)
    return result


def _form(
    f: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, convert: bool
) -> Form:
    """The form of a call; `convert`: whether integers become floats."""
    call = _Reading(f, args, kwargs, convert)
    rows: Sequence[Row] = ()
    if (target := _plain_integers(call, result)) is None:
        if not (call.converts or call.trees or call.static or kwargs or call.omits):
            raise _UnsuitableError  # entries serve it themselves
        target, found = _entry(call)
        rows = _results(call, found, result)
    form = Form(len(args), tuple(kwargs), call.steps, call.slots, len(call.flat), target, rows)
    trial = DispatchStub(refusing, 0, f._options.cache)
    trial.learn(form)
    if not _agree(trial.call(*args, **kwargs), result):
        raise _UnsuitableError
    return form


class _Reading:
    """How the arguments of a call are taken.

    Attributes
    ----------
    steps, slots : what a form does, and how many values that finds.
    given, flat : the leaves as they are, and as the entry gets them. converts : whether they differ.
    omits : whether a default is taken. trees : whether some arguments are containers.
    function : whose entries are called; of leaves if there are containers.
    """

    def __init__(
        self, f: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], convert: bool
    ) -> None:
        parameters = f._source.parameters
        self.owner, self.convert = f, convert
        self.real, self.static = parameters.bind(args, kwargs)
        places = parameters.places(len(args), tuple(kwargs))
        if places is None:
            raise _UnsuitableError
        self.steps: list[Row] = []
        self.slots = len(args) + len(kwargs)
        self.given: list[Any] = []
        self.flat: list[Any] = []
        self.converts = False
        self.omits = any(isinstance(p, tuple) for p in places.values())
        self._held: dict[str, int] = {}
        for name, v in self.static.items():
            slot = self._slot(places[name])
            self.steps.append(Row(binding.SAME, slot, Held(v), type(v)))
        self.trees = any(map(pytrees.is_container, self.real))
        self.nodes = leaves_of(f, self.real)[0] if self.trees else (pytrees.LEAF,) * len(self.real)
        self.function = f._twin(self.nodes) if self.trees else f
        for name, node, v in zip(parameters.real, self.nodes, self.real, strict=True):
            self._walk(node, self._slot(places[name]), v)
        if self.slots > binding.MOST_SLOTS:
            raise _UnsuitableError

    def _add(self, found: int, op: int, slot: int, a: Any, b: Any = 0) -> int:
        """A step that finds some values; the slot of the first."""
        self.steps.append(Row(op, slot, a, b))
        self.slots += found
        return self.slots - found

    def _slot(self, place: int | tuple[str, Any]) -> int:
        """Where the value of a parameter is; defaults are read anew in each call."""
        if not isinstance(place, tuple):
            return place
        attribute, key = place
        fun = unwrapped(self.owner)
        held = getattr(fun, attribute)
        if attribute not in self._held:
            slot = self._add(1, binding.CONSTANT, 0, fun)
            slot = self._add(1, binding.ATTRIBUTE, slot, attribute)
            node = pytrees.Node("tuple") if type(held) is tuple else pytrees.Node("dict", keys=tuple(held))  # fmt: skip
            self._held[attribute] = self._parts(node, slot, held)
        return self._held[attribute] + (key if type(held) is tuple else list(held).index(key))

    def _parts(self, node: pytrees.Node, slot: int, value: Any) -> int:
        """Take the parts of a container; the slot of the first."""
        match node.kind:
            case "tuple" | "named":
                return self._add(len(value), binding.TUPLE, slot, type(value), len(value))
            case "list":
                return self._add(len(value), binding.LIST, slot, 0, len(value))
            case "dict":
                return self._add(len(value), binding.DICT, slot, node.keys, len(value))
            case "data" if node.keys:
                first = self.slots
                for key in node.keys:
                    self._add(1, binding.ATTRIBUTE, slot, key, type(value))
                return first
        raise _UnsuitableError

    def _walk(self, node: pytrees.Node, slot: int, value: Any) -> None:
        """Take a value with its parts."""
        if node.kind == "leaf":
            self._leaf(slot, value)
        elif node.kind == "fixed":
            self._add(0, binding.SAME, slot, Held(value), str if type(value) is str else 0)
        else:
            first = self._parts(node, slot, value)
            for k, (child, v) in enumerate(zip(node.children, _parts_of(node, value), strict=True)):
                self._walk(child, first + k, v)

    def _leaf(self, slot: int, value: Any) -> None:
        """Pass a number or an array to the entry."""
        kind, sent = type(value), value
        if kind is int and self.convert:
            self._add(0, binding.FLOATED, slot, 0)
            if abs(value) > EXACT:
                raise _UnsuitableError
            sent = float(value)
        elif kind in (float, np.float64, int):
            self._add(0, binding.AS_IT_IS, slot, 0, kind)
        elif kind is not np.ndarray or value.dtype not in _DTYPES[: None if value.ndim else 1]:
            raise _UnsuitableError
        elif not value.ndim:
            self._add(0, binding.NUMBER_OF_ARRAY, slot, 0)
            sent = float(value)
        elif value.dtype.kind == "i" and self.convert:
            self._add(0, binding.WIDENED, slot, 0, value.ndim)
            sent = value.astype(np.float64)
        else:
            self._add(0, binding.ARRAY_AS_IT_IS, slot, value.dtype, value.ndim)
        self.converts = self.converts or sent is not value
        self.given.append(value)
        self.flat.append(sent)


def _parts_of(node: pytrees.Node, value: Any) -> Iterator[Any]:
    """The parts of a container, in order."""
    if node.kind == "data":
        return (getattr(value, k) for k in node.keys)
    return iter(value.values() if node.kind == "dict" else value)


# ------------------------------------------------------------------------------- targets
def _entry(call: _Reading) -> tuple[Callable[..., Any], Any]:
    """What asks the entries for the leaves of a call, and what that returns.

    A call with converted leaves is made if no entry serves it yet: so there may be one the next time.
    """
    g, static = call.function, call.static
    if call.converts and not _are_floats(call):
        raise _UnsuitableError
    ask = g._served.ask(static)
    found = NotImplemented if ask is None else ask(*call.flat)
    if found is not NotImplemented:
        return ask, found
    if call.converts:
        parameters = g._source.parameters
        values = {**dict(zip(parameters.real, call.flat, strict=True)), **static}
        args, kwargs = parameters.arguments(values)
        with warnings.catch_warnings():  # which the call itself gave
            warnings.simplefilter("ignore")
            with contextlib.suppress(ArithmeticError, TypeError, ValueError):
                g(*args, **kwargs)
    raise _UnsuitableError


def _are_floats(call: _Reading) -> bool:
    """Whether what is computed for leaves does not depend on which of them are floats."""
    g, static = call.function, call.static
    if not g._source.alike(static, call.given, call.flat):
        return False
    return bool(g._source.path) or whole_arguments.floats_of_these(g, call.given, static)


def _plain_integers(call: _Reading, result: Any) -> Callable[..., Any] | None:
    """The plain function, where it is what computes integers of numbers: it returns NotImplemented
    if a result is none."""
    f, fun = call.owner, unwrapped(call.owner)
    if call.trees or call.static or call.converts or fun is None:
        return None
    if not all(type(v) in (int, float) for v in call.real) or not whole_arguments.involved(
        f, call.real
    ):
        return None
    if not all(type(v) is int for v in leaves_of_result(result)):
        return None
    shapes = f._source.shapes({}, call.real)
    if f._options.check_domain and whole_arguments.has_domain(f._source.raw({}, shapes)):
        return None
    target: Callable[..., Any] = f.__dict__.setdefault("_integers", _integers_of(fun))
    return target


def _integers_of(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results are integers; for other results, or errors, NotImplemented."""

    def call(*values: Any) -> Any:
        try:
            found = fun(*values)
        except Exception:
            return NotImplemented  # the general path says what it is
        whole = type(found) is int or all(type(v) is int for v in leaves_of_result(found))
        return found if whole else NotImplemented

    return call


# ------------------------------------------------------------------------------- results
class _Part(NamedTuple):
    """A part of what an entry returns."""

    path: tuple[int, ...]
    kind: type


class _Marked:
    """A `_Part` where containers are grouped, which is none."""

    __slots__ = ("part",)

    def __init__(self, part: _Part) -> None:
        self.part = part


def _marked(found: Any, path: tuple[int, ...] = ()) -> Any:
    """The parts of what an entry returns, nested alike."""
    if type(found) is tuple:
        return tuple(_marked(v, (*path, k)) for k, v in enumerate(found))
    return _Marked(_Part(path, type(found)))


def _results(call: _Reading, found: Any, result: Any) -> Sequence[Row]:
    """The steps that make the result of a call of what an entry returned."""
    marks = _marked(found)
    wanted = marks
    if call.trees and call.owner._source.path:
        try:
            wanted = regrouped(call.owner, marks, call.nodes)
        except (AttributeError, TypeError):
            raise _UnsuitableError from None
    rows: list[Row] = []
    _make(wanted, result, rows)
    same = wanted is marks and all(r.op != binding.CALL for r in rows)
    return () if same else rows


def _make(wanted: Any, result: Any, rows: list[Row]) -> None:
    """Steps that push a result."""
    if isinstance(wanted, _Marked):
        part = wanted.part
        rows.append(Row(binding.WHOLE))
        rows += [Row(binding.ITEM, 0, k) for k in part.path]
        if type(result) is np.float64 and part.kind is float:
            rows.append(Row(binding.CALL, 0, np.float64, 1))
        elif type(result) is not part.kind:
            raise _UnsuitableError
        return
    kind = type(wanted)
    if kind is not type(result):
        raise _UnsuitableError
    if wanted is None or isinstance(wanted, (str, bool)):
        rows.append(Row(binding.OBJECT, 0, Held(wanted)))
        return
    keys = whole_arguments.keys_of(wanted)
    if keys is None or keys != whole_arguments.keys_of(result):
        raise _UnsuitableError
    for k in keys:
        _make(whole_arguments.part_of(wanted, k), whole_arguments.part_of(result, k), rows)
    count = len(keys)
    if kind is tuple or kind is list:
        rows.append(Row(binding.NEW_TUPLE if kind is tuple else binding.NEW_LIST, 0, 0, count))
    elif kind is dict:
        rows.append(Row(binding.NEW_DICT, 0, tuple(keys), count))
    else:
        rows.append(Row(binding.CALL, 0, maker(cast("Hashable", kind)), count))


def _agree(one: Any, other: Any) -> bool:
    """Whether results nest alike, and are of the same kinds and values."""
    if type(one) is not type(other) or whole_arguments.keys_of(one) != whole_arguments.keys_of(
        other
    ):
        return False
    keys = whole_arguments.keys_of(one)
    if keys is not None:
        part = whole_arguments.part_of
        return all(_agree(part(one, k), part(other, k)) for k in keys)
    if one is None or isinstance(one, (int, str)):
        return bool(one == other)
    a, b = np.asarray(one), np.asarray(other)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.dtype.kind in "fiub" and np.allclose(a, b, _SAME_DIGITS, 0.0, equal_nan=True)
