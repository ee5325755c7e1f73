"""Calls of functions that are run by values, as `symdiff.frontend.by_value` does, and of their derivatives.

A derivative is a path of steps, such as gradient, then Jacobian. All but the last are recorded, so that the next can be
taken of them.
"""

from __future__ import annotations

import contextlib
import gc
import numbers
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.api import debugging
from symdiff.api.firstcalls import in_python, unwrapped
from symdiff.api.recurring_paths import Call, call_of
from symdiff.errors import ByValueWarning, GuardWarning, UnsupportedError
from symdiff.frontend import SymArray, pytrees
from symdiff.ir import Expr
from symdiff.pipeline.refusals import ByValue
from symdiff.runtime.scalar.elementwise import ObjectError

if TYPE_CHECKING:
    from symdiff.diagnostics.report import Report

Function = Any
"""A `SymbolicFunction`, which imports this."""

WHEN_REFUSED = True
"""Whether functions without `by_value=` are run by values where the compiler refuses them."""


COMPARED = 3
"""Runs after which values are those of plain Python alone."""

_SPECIAL = {
    "jump": "a branch is taken at these arguments only, and the function jumps there: the slopes are those of the branch taken",
    "nan": "a branch is taken at these arguments only: slopes that depend on it are not known, and nan",
}


def known(f: Function) -> ByValue:
    """What is known of a function or derivative."""
    found: ByValue = f._source.by_value
    return found


def running() -> bool:
    """Whether this call is inside of a run."""
    reals = sys.modules.get("symdiff.frontend.by_value.reals")
    return reals is not None and reals.RECORD.here()


def ask(f: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call that is run by values from the start, or is inside of a run; else NotImplemented."""
    if running():
        return called(f, args, kwargs)
    f._fresh()
    if f._nested is not None or f._options.by_value is False:
        return NotImplemented
    refused = None
    if refusals := known(f).refusals:
        refused = refusals.get(_kinds(args, kwargs))
    if refused is not None:
        return _or_refused(f, args, kwargs, refused)
    return called(f, args, kwargs) if f._options.by_value else NotImplemented


def compiled_or_run(f: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of compiled code, or by values if the compiler refuses the function."""
    try:
        return debugging.called(f, args, kwargs)
    except UnsupportedError as refused:
        return instead(f, args, kwargs, refused)


def _kinds(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a refusal depends on: classes, sizes, and integers."""

    def kind(v: Any) -> Any:
        if isinstance(v, np.ndarray):
            return v.shape, v.dtype.char
        if isinstance(v, (list, tuple)):
            return type(v), tuple(map(kind, v))
        if isinstance(v, dict):
            return dict, tuple((k, kind(x)) for k, x in v.items())
        return (type(v), v) if isinstance(v, (int, str)) else type(v)

    return tuple(map(kind, args)), tuple((k, kind(v)) for k, v in kwargs.items())


def instead(
    f: Function, args: Sequence[Any], kwargs: Mapping[str, Any], refused: UnsupportedError
) -> Any:
    """The result of a call that the compiler refuses.

    Raises
    ------
    UnsupportedError : that refusal, if there is no run by values either; its hint says why.
    """
    wanted = f._options.by_value
    if f._nested is not None or wanted is False or (wanted is None and not WHEN_REFUSED):
        raise refused
    plain = unwrapped(f)
    traced = any(isinstance(v, (Expr, SymArray)) for v in (*args, *kwargs.values()))
    if plain is None or traced or f._options.target != "cpu" or f._options.dtype is not None:
        raise refused
    result = _or_refused(f, args, kwargs, refused)
    noted = known(f).refusals
    if not noted and wanted is None:
        warnings.warn(
            f"{f._source.parameters.name} is run by values, by plain Python in every call: {refused.message}"
            + (f" ({refused.location})" if refused.location else ""),
            ByValueWarning,
            stacklevel=4,
        )
    noted[_kinds(args, kwargs)] = refused.without_frames()
    return result


def _or_refused(
    f: Function, args: Sequence[Any], kwargs: Mapping[str, Any], refused: UnsupportedError
) -> Any:
    """The call by values; if that is refused too, the compiler's refusal, with this one in its hint."""
    try:
        return called(f, args, kwargs)
    except UnsupportedError as error:
        at = f" ({error.location})" if error.location else ""
        hint = "; ".join(filter(None, (refused.hint, f"run by values: {error.message}{at}")))
        kind = ObjectError if isinstance(refused, ObjectError) else UnsupportedError
        raise kind(refused.message, refused.location, hint) from None


def report(f: Function) -> Report | None:
    """The report of a function that is run by values; None of another."""
    from symdiff.diagnostics.report import Finding, Report

    found, refusals = known(f), list(known(f).refusals.values())
    if not refusals and not f._options.by_value:
        return None
    why = [Finding("refused", r.message, r.location) for r in refusals[:1]]
    cost = (
        "not called yet"
        if found.operations is None
        else f"{found.operations} operations in the last run"
    )
    compiled = sum(len(p.kept) for p in found.paths.values())
    paths = f"; {compiled} path{'s' if compiled > 1 else ''} compiled" if compiled else ""
    how = Finding("by values", f"plain Python, differentiated in reverse; {cost}{paths}")
    text = ("run by values, no formula",)
    return Report(f.__name__, f._source.parameters.names, text, text, (how, *why), {}, None)


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Python looks for cycles after every 700 new objects, and a run makes two for each operation."""
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], 200_000), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def called(f: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of a function or derivative that is run by values."""
    with _rare_collections():
        return _called(f, args, kwargs)


def _called(f: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    from symdiff.frontend.by_value import nesting, trace
    from symdiff.frontend.by_value.reals import RECORD
    from symdiff.frontend.by_value.redirected_names import of_arguments

    primals, vector, given = _sorted(f, args, kwargs)
    real, static = f._source.parameters.bind(primals, given)
    names = f._source.parameters.real
    leaves: list[Any] = []
    nodes = [pytrees.flatten(v, n, [], leaves) for n, v in zip(names, real, strict=True)]
    if any(map(pytrees.has_complex, nodes)):
        raise UnsupportedError("complex arguments of a function that is run by values")
    _must_be_taken(leaves)

    functions = of_arguments(static)

    def plain(leaves: Sequence[Any]) -> Any:
        parts = iter(leaves)
        return in_python(_root(f), [pytrees.unflatten(n, parts) for n in nodes], functions)

    path, inside = f._source.path, running()
    if inside:
        entered = [trace.entered(v) if trace.is_real(v) else v for v in leaves]
        scalars, result = [trace.scalars(v) for v in entered], plain(entered)
        rounded: Sequence[Any] = RECORD.rounded
    else:
        if not path and known(f).compared >= COMPARED:
            return trace.in_python(plain, leaves)
        leaves = _with_floats(plain, leaves) if path else leaves
        call = _recurring(f, nodes, leaves, static)
        if call is not None and call.paths.kept:
            value = trace.in_python(plain, leaves)
            if (served := call.paths.served(value, call.args, call.steps)) is not NotImplemented:
                return _with_value(path, served, value)
        found, scalars = trace.run(plain, unwrapped(f), leaves, _order(path))
        known(f).operations, result = found.operations, found.result
        rounded = found.rounded
        known(f).compared += 1
        if not path:
            return found.value
        if found.special:
            warnings.warn(f"{f.__name__}: {_SPECIAL[found.special]}", GuardWarning, stacklevel=6)
    arguments = nesting.Arguments(
        tuple(names), tuple(nodes), tuple(leaves), tuple(scalars), rounded
    )
    derivative = nesting.derived(arguments, result, path, vector, inside)
    if not inside and call is not None and found.guards is not None:
        call.met(arguments, found, derivative)
    return derivative if inside else _with_value(path, derivative, found.value)


def _with_value(path: Sequence[tuple[str, tuple[str, ...]]], derivative: Any, value: Any) -> Any:
    """A derivative that comes with the value, which is plain Python's."""
    from symdiff.frontend.by_value import outputs

    if len(path) == 1 and path[0][0] in ("value_and_gradient", "jvp", "vjp"):
        return outputs.mapped(value, outputs.doubles), derivative[1]
    return derivative


def _recurring(
    f: Function, nodes: Sequence[pytrees.Node], leaves: Sequence[Any], static: Mapping[str, Any]
) -> Call | None:
    """A call of a derivative, with the paths that it may take; None if these are not kept."""
    if not f._source.path or any(kind in ("jvp", "vjp", "hvp") for kind, _ in f._source.path):
        return None
    found = call_of(f._source.parameters.real, nodes, leaves, static, f._source.path)
    if found is None:
        return None
    return replace(found, paths=known(f).paths.setdefault(found.key, found.paths))


def _order(path: Sequence[tuple[str, tuple[str, ...]]]) -> int:
    """How often a path of steps differentiates."""
    of_kind = {"hessian": 2, "hvp": 2}
    return sum(len(by) if kind == "derivative" else of_kind.get(kind, 1) for kind, by in path)


def _root(f: Function) -> Function:
    while f._parent is not None:
        f = f._parent
    return f


def _sorted(
    f: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Any, dict[str, Any]]:
    """The arguments of the function, and the vector of a product."""
    given = dict(kwargs)
    if f._out(given) is not None:
        raise UnsupportedError(f"out= of {f.__name__}, which is run by values")
    if given.pop("sparse", False) and "sparse" not in f._source.parameters.names:
        raise UnsupportedError(f"a sparse {f.__name__}, which is run by values")
    if f._selects:
        return tuple(args), None, given
    names = ("primals", {"jvp": "tangents", "hvp": "v", "vjp": "cotangents"}[f._source.path[-1][0]])
    values = dict(zip(names, args, strict=False))
    values.update({n: given.pop(n) for n in names if n in given})
    primals = values["primals"]
    return (
        tuple(primals) if isinstance(primals, (tuple, list)) else (primals,),
        values[names[1]],
        given,
    )


def _must_be_taken(leaves: Sequence[Any]) -> None:
    """Refuse arguments that a run does not follow."""
    arrays = [v for v in leaves if isinstance(v, np.ndarray)]
    for v in leaves:
        known = isinstance(v, np.ndarray | np.generic | float | int) or type(v).__name__ == "Real"
        if not known and (isinstance(v, numbers.Number) or hasattr(type(v), "__array__")):
            raise UnsupportedError(f"an argument of the class {type(v).__name__}, run by values")
        kind = v.dtype if isinstance(v, np.ndarray | np.generic) else np.dtype(float)
        if kind.kind == "f" and kind.itemsize != 8:
            raise UnsupportedError(f"arguments of {kind.name}, run by values", hint="pass float64")
    for i, a in enumerate(arrays):
        if any(a is not b and np.may_share_memory(a, b) for b in arrays[:i]):
            raise UnsupportedError("arguments that share memory, run by values", hint="pass copies")


def _with_floats(plain: Callable[[Sequence[Any]], Any], leaves: list[Any]) -> list[Any]:
    """The leaves, with integers as floats where the function gives the same for these."""
    from symdiff.frontend.by_value import outputs, trace

    def result(leaves: Sequence[Any]) -> Any:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return trace.in_python(plain, leaves)

    for i, v in enumerate(leaves):
        if type(v) not in (int, np.int64):
            continue
        changed = [*leaves[:i], float(v), *leaves[i + 1 :]]
        try:
            if outputs.agree(result(changed), result(leaves)):
                leaves = changed
        except Exception:  # a size, an index or a count
            continue
    return leaves
