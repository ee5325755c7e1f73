"""Calling things. A function whose source can be read is inlined; the pure functions
of Python, math, NumPy and SciPy are known as objects; anything else is refused."""

from __future__ import annotations

import ast
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, TypeVar

import numpy as np

from symdiff import ir
from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.frontend import captures, source
from symdiff.frontend.arrays import casting, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library import (
    doors,
    foreign,
    known_numbers,
    of_numba,
    output,
    record_copies,
)
from symdiff.frontend.library import registry as known
from symdiff.frontend.library.complex_numbers import complex_calls
from symdiff.frontend.library.numpy import keywords as numpy_calls
from symdiff.frontend.library.numpy import ufuncs
from symdiff.frontend.library.primitives import no_keywords
from symdiff.frontend.source import FunctionNode
from symdiff.frontend.syntax import inlining, records, special_methods
from symdiff.frontend.syntax.containers import plain
from symdiff.frontend.trace import closures, demands, raised, scalars
from symdiff.frontend.trace.closures import Closure, assigned_names
from symdiff.frontend.trace.domains import domain_of
from symdiff.frontend.trace.facts import ALIKE
from symdiff.frontend.trace.frames import Frame, look_up, tuple_like
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    UNBOUND,
    UNREACHED,
    Choice,
    Cond,
    Logical,
    Method,
    Real,
    Record,
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    ZeroDimensional,
    array_of,
    as_real,
    describe,
    is_complex,
    is_number,
    join,
)
from symdiff.ir import FALSE, TRUE, Expr

Call = tuple[tuple[Any, ...], Mapping[str, Any]]
"""The positional and the keyword arguments of a call."""

MAX_DEPTH = 400
"""The most nested calls; a deeper recursion does not end."""

NO_YIELD = "'yield' is not supported", "return a tuple or a list"
_YIELDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True, slots=True)
class Inlined:
    """A possible result of `__symdiff_trace__`, which states where its values are defined.

    Attributes
    ----------
    tree : an `Expr`, or a nested tuple, list or NumPy object array of them.
    domain : conditions without which the values are nan.
    assumptions : conditions that the arguments must satisfy.
    slopes : where signs from slopes of absolute values jump in them.
    of_derivatives : whether they are derivatives.
    """

    tree: Any
    domain: tuple[Expr, ...] = ()
    assumptions: tuple[Expr, ...] = ()
    slopes: tuple[Expr, ...] = ()
    of_derivatives: bool = False


_GIVE_PYTHON_NUMBERS = (float, int, round, divmod, math.fsum)
"""Functions from NumPy's numbers to Python's, which raise an error when divided by zero."""


_GIVE_ARRAYS_WITHOUT_AXES = frozenset((
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "block", "broadcast_to", "copy", "cov",
    "empty_like", "full_like", "i0", "ones_like", "pad", "permute_dims", "require", "reshape", "resize", "roll",
    "select", "squeeze", "tile", "transpose", "where", "zeros_like",
))  # fmt: skip
"""Functions of NumPy's that make arrays without axes from numbers."""


def _of_numpy(function: Any) -> bool:
    """Whether a known function returns NumPy's numbers."""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, np.ufunc) or module.partition(".")[0] in ("numpy", "scipy")


def call(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The value of `function(*args, **kwargs)`."""
    if isinstance(function, Closure):
        raised.called(t, function, args)
        return inline(t, function, args, kwargs)
    made, args = special_methods.called(t, function, args, kwargs)
    if made is not NotImplemented:
        return made
    raised.called(t, function, args)
    if (made := complex_calls.called(t, function, args, kwargs)) is not NotImplemented:
        return made
    if isinstance(function, Method):
        t.python_numbers |= function.name in ("item", "tolist")
        return function.function(t, function.owner, *args, **kwargs)
    if getattr(function, "__module__", None) == "math" or function in _GIVE_PYTHON_NUMBERS:
        t.python_numbers = True
    if (implementation := known.find(function)) is not None:
        complex_calls.check(function, args, kwargs)
        of_numpy = _of_numpy(function)
        t.numpy_numbers |= of_numpy
        result = numpy_calls.applied(t, function, implementation, args, kwargs)
        if of_numpy and type(result) is Real and function.__name__ in _GIVE_ARRAYS_WITHOUT_AXES:
            return ZeroDimensional(result.expr, result.defined)
        if of_numpy and type(result) is Cond:
            return Logical(result.expr, result.defined)
        if getattr(function, "__module__", None) == "math":
            t.executed(result)  # it raises outside of its domain, even if the result is not used
        raised.of_math(t, function, args, result)
        return result
    if (alias := foreign.find(function)) is not None:
        args, kwargs = alias.arguments(args, kwargs)
        captures.foreign(alias.name)
        if alias.own:
            return t.inline(alias.target, args, kwargs)
        return call(t, alias.target, args, kwargs)
    if (inner := foreign.compiled_of(function)) is not None:
        captures.foreign(inner.__name__)
        return call(t, inner, args, kwargs)
    if (seen := of_numba.find(function)) is not None:
        t.compiled += seen.inside
        try:
            return call(t, seen.target, args, kwargs)
        finally:
            t.compiled -= seen.inside
    if t.compiled and (chosen := of_numba.overloaded(function, args, kwargs)) is not None:
        return call(t, chosen, args, kwargs)
    kind = type(function)
    if hasattr(kind, "__symdiff_trace__"):
        t.python_numbers = True
        return _traced(t, function, args, kwargs)
    if kind in (FunctionType, MethodType) and hasattr(function, _RUNS):
        return _executed(t, function, args, kwargs)
    if (op := getattr(function, "__symdiff_op__", None)) is not None:
        no_keywords(kwargs)
        return arrays.elementwise(lambda *v: scalars.apply(op, *v), *args)
    if (made := known_numbers.called(t, function, args, kwargs)) is not NotImplemented:
        return made
    if output.writes_log(function):
        return output.shown(t, f"{function.__name__}() of logging")
    if (replaced := doors.replacement(function)) is not None:
        return records.make(t, replaced, args, kwargs)
    if (library := doors.of(function)) is not None:
        if (made := library.called(t, function, args, kwargs)) is not NotImplemented:
            return made
    if kind is FunctionType:
        if source.of_library(function):
            raise _foreign(t, function)
        return inline(t, function, args, kwargs)
    if kind is MethodType and type(function.__func__) is FunctionType:
        owner, name = function.__self__, function.__name__
        if name in record_copies.NAMED_TUPLE and hasattr(owner, "_fields"):
            return record_copies.of_named_tuple(t, owner, name, args, kwargs)
        inspects = hasattr(type(function.__self__), "__symdiff_trace__")
        if inspects or source.of_library(function.__func__):
            raise _foreign(t, function)
        return inline(t, function.__func__, (function.__self__, *args), kwargs)
    if kind is functools.partial:
        every = (*map(t.wrap, function.args), *args)
        return call(t, function.func, every, {k: t.wrap(v) for k, v in function.keywords.items()} | kwargs)  # fmt: skip
    if kind is type(_cached) and isinstance(function.__wrapped__, FunctionType):
        return call(t, function.__wrapped__, args, kwargs)
    if kind is BuiltinMethodType and isinstance(function.__self__, known.METHOD_OWNERS):
        return known.method(t, function, args, kwargs)
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return function(*args, **kwargs)
    if function is np.vectorize and len(args) == 1:
        options = {k: plain(v) for k, v in kwargs.items() if k != "doc"}
        made = lambda t, f, /, *v, **named: ufuncs.vectorized(t, f, options, v, named)
        return Method(made, args[0], "vectorize")
    if kind is np.vectorize:
        options = {k: getattr(function, k) for k in ("otypes", "signature", "excluded")}
        return ufuncs.vectorized(t, function.pyfunc, options, args, kwargs)
    if records.makes(function):
        return records.make(t, function, args, kwargs)
    called = inspect.getattr_static(kind, "__call__", None)
    if isinstance(called, FunctionType) and not source.of_library(called):
        return inline(t, called, (function, *args), kwargs)
    raise _foreign(t, function)


def is_inlined(function: Any) -> bool:
    """Whether a call runs statements of the user's, in which names may be None on some path."""
    function = getattr(function, "__func__", function)
    if type(function) is not FunctionType:
        return isinstance(function, Closure)
    return known.find(function) is None and not source.of_library(function) and not vars(function)


@functools.lru_cache(maxsize=1)
def _cached() -> None:
    """A sample: its type is that of every function that functools.cache returns."""


def _foreign(t: Tracer, function: Any) -> Refused:
    """The refusal of a function that symdiff cannot see through."""
    if not callable(function):
        return Refused(f"{describe(function)} is called")
    node = t.at.func if isinstance(t.at, ast.Call) else t.at
    text = t.frame.source.segment(node) if isinstance(node, ast.expr) else "this"
    return Refused(f"'{text}' cannot be traced", known.hint(function))


# -------------------------------------------------------------------- inlining


def _check_kind(t: Tracer, node: FunctionNode) -> None:
    """Refuse generators and coroutines."""
    if isinstance(node, ast.AsyncFunctionDef):
        t.refuse("'async' is not supported", node=node)
    if (found := source.first_yield(node)) is not None:
        t.refuse(*NO_YIELD, found)


_BUILTINS = "__builtins__"


def outer_names(fun: FunctionType) -> Callable[[str], Any]:
    """Looks up a function's free names: closure cells, globals, builtins."""
    cells = dict(zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True))
    builtins: Any = getattr(fun, _BUILTINS)
    ours = not source.is_library(fun.__code__.co_filename)

    def look_up(name: str) -> Any:
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                return UNBOUND
            captures.cell(cells[name], value)
            return value
        if name in fun.__globals__:
            if ours:
                captures.item(fun.__globals__, name, fun.__globals__[name])
            return fun.__globals__[name]
        if ours:
            captures.item(fun.__globals__, name, captures.MISSING)
        return builtins.get(name, UNBOUND)

    return look_up


def function_frame(fun: FunctionType) -> tuple[Frame, FunctionNode]:
    """A frame for a call of a function from the user's world."""
    file, node = source.find(fun)
    code = fun.__code__
    names = (*code.co_varnames, *code.co_cellvars)
    frame = Frame(fun.__name__, file, outer_names(fun), lambda: names)
    frame.may_yield = bool(code.co_flags & _YIELDS)
    return frame, node


def inline(
    t: Tracer, function: Closure | FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a function's body here, on these arguments."""
    undecided, t.undecided = t.undecided is function, None
    if t.depth >= MAX_DEPTH:
        raise Refused(
            f"calls are nested more than {MAX_DEPTH} deep",
            "a recursion must end on values known when traced",
        )
    if isinstance(function, Closure):
        home, node = function.home, function.node
        frame = Frame(
            function.name, home.source, lambda n: look_up(home, n), lambda: assigned_names(node)
        )
        frame.home = home
        defaults, named = function.defaults, function.keyword_defaults
    else:
        try:
            frame, node = function_frame(function)
        except UnsupportedError as error:  # it has no source; name the place of the call
            raise Refused(error.message, error.hint) from None
        captures.defaults(function)
        defaults = tuple(map(t.wrap, function.__defaults__ or ()))
        named = {k: t.wrap(v) for k, v in (function.__kwdefaults__ or {}).items()}
    positional = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
    last = positional[len(positional) - len(defaults) :]
    usual = {**dict(zip(last, defaults, strict=True)), **named}
    frame.env = _bind(t, frame.name, node.args, usual, (args, kwargs))
    caller, at = t.frame, t.at
    frame.caller = caller, at
    t.depth += 1
    value = run(t, frame, node, undecided)
    t.depth -= 1
    t.frame, t.at = caller, at
    return value


def run(t: Tracer, frame: Frame, node: FunctionNode, undecided: bool = False) -> Any:
    """The result of a function, with its parameters bound in the frame; a `Choice` if
    `undecided`."""
    frame.birth, frame.path = t.tick(), t.path
    t.frame = frame
    closures.share(t, frame, node)
    if frame.may_yield:
        _check_kind(t, node)
    if isinstance(node, ast.Lambda):
        return t.evaluate(node.body)
    t.run_block(node.body)
    flow = frame.flow
    if flow.returned is FALSE:
        return None
    if flow.raised or flow.value is UNREACHED:
        if frame.caller is None:
            t.refuse(f"'{frame.name}' raises an error on every path", "", node.body[-1])
        outer = frame.caller[0].flow
        outer.returned, outer.raised = TRUE, True
        return None
    if flow.value is None and frame.caller is not None:
        return None  # on every path
    if not t.certain(flow.returned):
        missing = t.text(ir.not_(flow.returned))
        t.refuse(
            f"'{frame.name}' returns nothing when {missing}",
            "return a value on every path",
            node.body[-1],
        )
    if undecided and isinstance(flow.value, Choice):
        return t.left_open(flow.value)
    return t.resolve(flow.value, f"what '{frame.name}' returns", ALIKE)


def _bind(
    t: Tracer, name: str, a: ast.arguments, usual: Mapping[str, Any], call: Call
) -> dict[str, Any]:
    """Match the arguments of a call with parameters, as Python does."""
    args, kwargs = call
    positional = [p.arg for p in (*a.posonlyargs, *a.args)]
    env = dict(zip(positional, args, strict=False))
    if a.vararg is not None:
        env[a.vararg.arg] = args[len(positional) :]
    elif len(args) > len(positional):
        plural = "" if len(positional) == 1 else "s"
        raise Refused(
            f"'{name}' takes {len(positional)} positional argument{plural}, not {len(args)}"
        )
    by_name = {p.arg for p in (*a.args, *a.kwonlyargs)}
    extra = {}
    for k, v in kwargs.items():
        if k in env and k in by_name:
            raise Refused(f"'{name}' gets two values for '{k}'")
        if k in by_name:
            env[k] = v
        elif a.kwarg is not None:
            extra[k] = v
        else:
            raise Refused(f"'{name}' has no parameter '{k}'")
    if a.kwarg is not None:
        env[a.kwarg.arg] = t.own(extra)
    for p in (*positional, *(p.arg for p in a.kwonlyargs)):
        if p not in env:
            if p not in usual:
                raise Refused(f"'{name}' is called without its argument '{p}'")
            env[p] = usual[p]
    return env


# --------------------------------------------------------- other traced objects
@contextmanager
def _refusals() -> Iterator[None]:
    """Place errors that have no place at the call being traced."""
    try:
        yield
    except SymdiffError as error:
        if error.location is not None:
            raise
        raise Refused(error.message, error.hint) from None
    except TypeError as error:
        raise Refused(str(error)) from None


_RUNS = "__symdiff_static__"
_Function = TypeVar("_Function", bound=Callable[..., Any])


def runs_when_traced(function: _Function) -> _Function:
    """Mark a pure function that runs in Python where a traced function calls it, such as
    one that makes a derivative of another function."""
    function.__dict__[_RUNS] = True
    return function


def _executed(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function that `runs_when_traced`; its arguments must be known."""
    values = (*args, *kwargs.values())
    if (local := next((v for v in values if isinstance(v, Closure)), None)) is not None:
        raise Refused(
            f"{function.__name__}() of '{local.name}', which is defined inside of "
            f"'{local.home.name}'",
            "define it outside of the function, and pass what it reads as arguments",
        )
    with _refusals():
        known = {k: plain(v) for k, v in kwargs.items()}
        return t.wrap(function(*map(plain, args), **known))


def _traced(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Inline an object that can express itself in terms of its arguments."""
    numbers = all(map(_is_numbers, (*args, *kwargs.values())))
    if numbers and hasattr(type(function), "__symdiff_plain__"):
        with _refusals():
            plain_function = function.__symdiff_plain__(args, kwargs)
        if plain_function is not None:
            return call(t, plain_function, args, kwargs)
    elif any(map(_is_of_integers, (*args, *kwargs.values()))):
        found = _of_integers(t, function, args, kwargs)
        if found is not NotImplemented:
            return found
    defined = TRUE
    met = [s for v in (*args, *kwargs.values()) for s in _found(Scalar, v)]
    for s in met:
        defined = join(defined, s.defined)
    try:
        with _refusals():
            result = function.__symdiff_trace__(
                tuple(_plain(v) for v in args), {k: _plain(v) for k, v in kwargs.items()}
            )
    except UnsupportedError:
        for v in _found(SymArray, (*args, *kwargs.values())):  # probably meant as indices
            demands.retrace_integers(t, symbolic.formula(v))
        raise
    if isinstance(result, inlining.Placed):
        floats = {s.expr for s in met if not scalars.is_whole(s)}
        return inlining.inline(
            t, result, floats.difference(s.expr for s in met if scalars.is_whole(s))
        )
    tree = result
    if isinstance(result, Inlined):
        tree = result.tree
        for c in result.domain:
            defined = join(defined, c)
        for c in result.assumptions:
            _assumed(t, c)
        t.slopes.update(dict.fromkeys(result.slopes))
        t.of_derivatives |= result.of_derivatives
        return _from_tree(tree, lambda e: defined)
    roots = tuple(_leaves(tree))
    needs = domain_of(roots)
    return _from_tree(tree, lambda e: join(defined, needs[e]))


def _is_of_integers(value: Any) -> bool:
    """Whether it is an array of integers or truth values, whose kind Python keeps."""
    return isinstance(value, (SymArray, SmallArray)) and value.kind != "f"


def _of_integers(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of the Python function that replaces an object for arrays of integers; NotImplemented
    if there is none, or where it does not take arrays."""
    if not hasattr(type(function), "__symdiff_plain__"):
        return NotImplemented
    with _refusals():
        plain_function = function.__symdiff_plain__(args, kwargs)
    if plain_function is None:
        return NotImplemented

    taken: dict[int, SymArray] = {}

    def own(value: Any) -> Any:  # decorated functions change no arguments
        if isinstance(value, SymArray):
            return taken.setdefault(id(value), symbolic.snapshot(value))
        made = t.freeze(value)
        return t.own(made) if isinstance(made, (SmallArray, list, dict)) else made

    try:
        with t.attempt():
            given = {k: own(v) for k, v in kwargs.items()}
            return call(t, plain_function, tuple(map(own, args)), given)
    except (Refused, UnsupportedError) as error:
        if error.message == casting.ROUNDED:  # the caller is what Python makes of it, too
            raise
        return NotImplemented


def _assumed(t: Tracer, condition: Expr) -> None:
    """Record an assertion of a function that is inlined here."""
    if condition is TRUE:
        return
    held = ir.or_(ir.not_(t.path), condition)
    message = f"this does not hold: {condition}"
    t.emit(t.check(held, "domain", message))
    t.assumptions.append(held)


def _found(kind: type, value: Any) -> Iterator[Any]:
    """The traced values of a kind in an argument."""
    if isinstance(value, kind):
        yield value
    value = value.fields if is_complex(value) else value
    if isinstance(value, dict):
        value = tuple(value.values())
    elif isinstance(value, SmallArray):
        value = tuple(value.items.ravel())
    for v in value if isinstance(value, (tuple, list)) else ():
        yield from _found(kind, v)


def _plain(value: Any) -> Any:
    """A traced value as expressions of numbers and Python values."""
    if isinstance(value, Scalar):
        return as_real(value).expr
    if isinstance(value, SmallArray):
        items = np.empty(value.items.size, object)
        items[:] = [_plain(v) for v in value.items.ravel()]
        return items.reshape(value.items.shape)
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, tuple):
        return tuple_like(value, map(_plain, value))
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if is_complex(value):
        return Record(value.made_of, _plain(value.fields))
    return value


def _leaves(tree: Any) -> Iterator[Expr]:
    if isinstance(tree, Expr):
        yield tree
    elif isinstance(tree, np.ndarray):
        yield from tree.ravel()
    elif isinstance(tree, dict):
        for v in tree.values():
            yield from _leaves(v)
    else:
        for v in tree:
            yield from _leaves(v)


def _is_numbers(value: Any) -> bool:
    """Whether an argument is numbers, in nothing that a function could change."""
    if isinstance(value, tuple):
        return all(map(_is_numbers, value))
    return is_number(value) or isinstance(value, (str, float, type(None)))


def _from_tree(tree: Any, defined: Callable[[Expr], Expr]) -> Any:
    if isinstance(tree, Expr):
        return (Cond if tree.op.boolean else Real)(tree, defined(tree))
    if isinstance(tree, np.ndarray):
        return array_of([_from_tree(e, defined) for e in tree.ravel()], tree.shape)
    if isinstance(tree, dict):
        return {k: _from_tree(v, defined) for k, v in tree.items()}
    if isinstance(tree, list):
        return [_from_tree(v, defined) for v in tree]
    if isinstance(tree, Record):
        return Record(tree.made_of, _from_tree(tree.fields, defined))
    return tuple_like(tree, (_from_tree(v, defined) for v in tree))
