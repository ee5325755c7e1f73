"""What users import: `symgrad` and the functional twins `grad`, `jacobian`, ..."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, cast, overload

import symdiff.api.directional  # noqa: F401  (it adds to the derivatives that functions have)
from symdiff.api import compositions
from symdiff.api.function import SymbolicFunction, of_expressions, symbolic
from symdiff.api.typed import Q, S
from symdiff.errors import CallError, SymdiffError, outermost
from symdiff.frontend import is_sympy, runs_when_traced
from symdiff.pipeline.options import Domain, Options

Wrt = str | int | Sequence[str | int] | None
RENAMED = {
    "argnum": "wrt",
    "argnums": "wrt",
    "static_argnames": "static",
    "static_argnums": "static",
}
"""Keywords of other packages, and what they are called here."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _renames_keywords(function: _Function) -> _Function:
    """Refuse keywords of other packages by the name they have here."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for key in kwargs.keys() & RENAMED.keys():
            raise CallError(
                f"{function.__name__}() got an unexpected keyword argument '{key}'",
                hint=f"it is called '{RENAMED[key]}', and takes names or positions of parameters",
            )
        return function(*args, **kwargs)

    return cast(_Function, called)


class Keywords(TypedDict, total=False):
    """The keyword arguments of `symgrad`, for type checkers."""

    params: Any
    wrt: Wrt
    static: Iterable[str] | str | None
    domain: Domain
    dtype: Any
    target: str
    accuracy: str
    parallel: bool | str
    checkpoint: str | int | None
    cache: bool
    verify: bool
    check_domain: bool
    engine: str
    by_value: bool | None


class Decorator(Protocol):
    """What `symgrad(...)` is, for type checkers."""

    def __call__(self, fun: Callable[Q, S], /) -> SymbolicFunction[Q, S]: ...


@overload
def symgrad(fun: None = None, **options: Unpack[Keywords]) -> Decorator: ...
@overload
def symgrad(fun: SymbolicFunction[Q, S], **options: Unpack[Keywords]) -> SymbolicFunction[Q, S]: ...
@overload
def symgrad(fun: Callable[Q, S], **options: Unpack[Keywords]) -> SymbolicFunction[Q, S]: ...
@overload
def symgrad(fun: Any, **options: Unpack[Keywords]) -> SymbolicFunction: ...
@runs_when_traced
@outermost
@_renames_keywords
def symgrad(
    fun: Any = None,
    *,
    params: Any = None,
    wrt: Wrt = None,
    static: Iterable[str] | str | None = None,
    domain: Domain = None,
    dtype: Any = None,
    target: str = "cpu",
    accuracy: str = "high",
    parallel: bool | str = "auto",
    checkpoint: str | int | None = None,
    cache: bool = True,
    verify: bool = True,
    check_domain: bool = True,
    engine: str = "llvm",
    by_value: bool | None = None,
) -> Any:
    """Trace a plain Python function; use as `@symgrad`, `@symgrad(...)` or `symgrad(f)`.

    Parameters
    ----------
    fun : a function of real scalars, written in plain Python, `math` and `numpy`; or a SymPy
        expression, a matrix, or a list, tuple or dict of them; or a `SymbolicFunction`, whose
        options are kept where none are given.
    params : of SymPy expressions the parameters, in order: symbols, `IndexedBase`s or their
        names; by default all that occur, sorted by name.
    wrt : names or positions of the parameters to differentiate by; default all real ones.
    static : further parameters to specialise on, as Python values.
    domain : what is known of the arguments: `{"x": (0, None)}`, `{"x": "x > 0"}` or `"x > 0"`.
    dtype : float32 or float64, to compute in whatever the arguments are.
    target : "cpu"; "cuda" computes on a CUDA device, "auto" there where arguments lie.
    accuracy : "fast", "high", "strict" or "certified". With "fast" nothing is looked at; with "high" calls
        that lost digits are found by probes, and computed again; with "strict" every call is computed with its
        rounding errors; with "certified" in ball arithmetic.
    parallel : whether large arrays use all cores; "auto" decides by size.
    checkpoint : how the gradients of loops get at earlier states. None and "none" save what
        the simplified derivative needs, for every step; "revolve" keeps at most 64 states
        and makes the steps between them again; a number of bytes bounds what is kept;
        "auto" saves up to a limit, and keeps states beyond it.
    cache : whether compiled kernels are kept on disk.
    verify : whether the first call with each kind of arguments also runs the plain Python
        function, on copies of the arguments or smaller ones, and compares shape and value
        within what rounding can explain; a `VerificationError` says where they differ, and every
        later call raises it until the function is changed, also in other processes. Sizes and
        branches that are new are compared again.
    check_domain : whether calls raise a `DomainError` where an `assert` or `domain` does not hold;
        if not, they are believed, and what is returned elsewhere is not specified.
    engine : "llvm", or "numba" for kernels of generated source that Numba compiles, where LLVM is
        not to be used directly; on the CPU, slower to compile and to call.
    by_value : whether the function is run by values: by plain Python in every call, whose operations are
        recorded and differentiated. None: where the compiler refuses it; False: never.

    Returns
    -------
    SymbolicFunction
        Callable like `fun`; the function itself is at `.__wrapped__`.

    Raises
    ------
    SymdiffError
        At the file, line and column of what cannot be traced.

    Examples
    --------
    >>> from symdiff import symgrad
    >>> @symgrad
    ... def h(x):
    ...     return (x**2 - 4) / (x - 2)
    >>> h.grad(2.0)
    1.0
    """
    names = (wrt,) if isinstance(wrt, (str, int)) else None if wrt is None else tuple(wrt)
    options = Options(
        names,
        domain,
        dtype,
        target,
        accuracy,
        parallel,
        checkpoint,
        cache,
        verify,
        check_domain,
        engine,
        by_value,
    )
    if is_sympy(fun):
        if static is not None:
            raise SymdiffError("static= of an expression", hint="its symbols are real parameters")
        return of_expressions(fun, params, "f", options)
    if params is not None:
        raise SymdiffError(
            "params= without a SymPy expression", hint="a function names its own parameters"
        )
    if fun is None:
        return lambda f: symgrad(
            f, wrt=wrt, static=static, domain=domain, dtype=dtype, target=target,
            accuracy=accuracy, parallel=parallel, checkpoint=checkpoint, cache=cache,
            verify=verify, check_domain=check_domain, engine=engine, by_value=by_value,
        )  # fmt: skip
    if isinstance(fun, SymbolicFunction):
        return _with_options(fun, options, static)
    return symbolic(fun, options, static)


def _with_options(
    fun: SymbolicFunction, options: Options, static: Iterable[str] | str | None
) -> SymbolicFunction:
    """A function with the options that are given, and its own where they are not."""
    if static is not None or options.domain is not None:
        which = "domain=" if static is None else "static="
        raise SymdiffError(
            f"{which} of {fun.__name__}, which is traced with its own",
            hint="give it where the plain function is decorated",
        )
    given = {k.name: v for k in fields(Options) if (v := getattr(options, k.name)) != k.default}
    if not given:
        return fun
    plain = getattr(fun, "__wrapped__", fun)  # of containers, it is traced again
    found = SymbolicFunction(fun._source, replace(fun._options, **given), plain, fun._parent)
    found._wrt()
    return found


@overload
def grad(
    fun: SymbolicFunction[Q, Any], wrt: Wrt = None, *, holomorphic: bool = False,
    has_aux: bool = False,
) -> SymbolicFunction[Q, Any]: ...  # fmt: skip
@overload
def grad(
    fun: Callable[Q, Any], wrt: Wrt = None, *, holomorphic: bool = False, has_aux: bool = False
) -> SymbolicFunction[Q, Any]: ...
@runs_when_traced
@outermost
@_renames_keywords
def grad(
    fun: Any, wrt: Wrt = None, *, holomorphic: bool = False, has_aux: bool = False
) -> Any:  # fmt: skip
    """The gradient of a function, as `symgrad(fun, wrt=wrt).grad`.

    Parameters
    ----------
    holomorphic : `fun` is a complex function of complex numbers that has a complex derivative,
        which is not checked; that is returned.
    has_aux : `fun` returns a pair, whose first entry is differentiated; the result is the pair of its
        gradient and the second entry.

    Examples
    --------
    >>> import symdiff
    >>> symdiff.grad(lambda z: z**2, holomorphic=True)(1 + 2j)
    (2+4j)
    """
    f = _function(fun, wrt)
    if has_aux:
        return compositions.grad_and_aux(f, holomorphic)
    return compositions.differentiated(f, holomorphic, has_aux).grad


@overload
def value_and_grad(
    fun: SymbolicFunction[Q, S], wrt: Wrt = None, *, holomorphic: bool = False,
    has_aux: bool = False,
) -> SymbolicFunction[Q, tuple[S, Any]]: ...  # fmt: skip
@overload
def value_and_grad(
    fun: Callable[Q, S], wrt: Wrt = None, *, holomorphic: bool = False, has_aux: bool = False
) -> SymbolicFunction[Q, tuple[S, Any]]: ...
@runs_when_traced
@outermost
@_renames_keywords
def value_and_grad(
    fun: Any, wrt: Wrt = None, *, holomorphic: bool = False, has_aux: bool = False
) -> Any:  # fmt: skip
    """(value, gradient) of a function; for `holomorphic` and `has_aux` see `grad`: the value is then
    the pair that `fun` returns."""
    f = _function(fun, wrt)
    if holomorphic or has_aux:
        return compositions.value_and_grad(f, holomorphic, has_aux)
    return f.value_and_grad


@overload
def jacobian(
    fun: SymbolicFunction[Q, Any], wrt: Wrt = None, *, holomorphic: bool = False
) -> SymbolicFunction[Q, Any]: ...
@overload
def jacobian(
    fun: Callable[Q, Any], wrt: Wrt = None, *, holomorphic: bool = False
) -> SymbolicFunction[Q, Any]: ...
@runs_when_traced
@outermost
@_renames_keywords
def jacobian(fun: Any, wrt: Wrt = None, *, holomorphic: bool = False) -> Any:
    """The Jacobian of a function that returns several values; for `holomorphic` see `grad`."""
    return compositions.differentiated(_function(fun, wrt), holomorphic, False).jacobian


@overload
def hessian(fun: SymbolicFunction[Q, Any], wrt: Wrt = None) -> SymbolicFunction[Q, Any]: ...
@overload
def hessian(fun: Callable[Q, Any], wrt: Wrt = None) -> SymbolicFunction[Q, Any]: ...
@runs_when_traced
@outermost
@_renames_keywords
def hessian(fun: Any, wrt: Wrt = None) -> Any:
    """The Hessian of a function."""
    return _function(fun, wrt).hessian


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """(value, tangent) of a function at `primals` along `tangents`."""
    return _function(fun, None).jvp(primals, tangents)


def vjp(fun: Callable[..., Any], primals: Any, cotangents: Any) -> Any:
    """(value, cotangents of the parameters) of a function at `primals`."""
    return _function(fun, None).vjp(primals, cotangents)


@runs_when_traced
def _function(fun: Callable[..., Any], wrt: Wrt) -> Any:
    return symgrad(fun, wrt=wrt)
