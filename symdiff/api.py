"""What users import: `symgrad` and the functional twins `grad`, `jacobian`, ...

A `SymbolicFunction` is one callable: a value or a derivative. Its derivatives
are `SymbolicFunction`s again, so they nest, take the same arguments, and each
has its expression, its source and its report.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff import compile as pipeline
from symdiff import ir
from symdiff.errors import SymdiffError, TargetError
from symdiff.frontend import Inlined, Parameters, capture
from symdiff.ir import Expr
from symdiff.passes.doubt import doubt
from symdiff.program import Program, map_tree
from symdiff.runtime.kernel import Kernel
from symdiff.runtime.tiers import Tiered

if TYPE_CHECKING:
    from symdiff.report import Report

Wrt = str | int | Sequence[str | int] | None
Domain = Mapping[str, tuple[float | None, float | None]] | str | None

ACCURACIES = ("fast", "high", "strict", "certified")
CHECKPOINTS = ("auto", "none", "revolve")


@dataclass(frozen=True, slots=True)
class Options:
    """The keyword arguments of `symgrad` that shape kernels."""

    wrt: tuple[str | int, ...] | None = None
    domain: Domain = None
    dtype: Any = None
    target: str = "cpu"
    accuracy: str = "high"
    parallel: bool | str = "auto"
    checkpoint: str | int | None = None
    cache: bool = True

    def __post_init__(self) -> None:
        if self.target not in ("cpu", "auto", "cuda"):
            raise SymdiffError(f"unknown target {self.target!r}", hint='use "cpu"')
        if self.target == "cuda":
            raise TargetError("CUDA kernels are not available yet", hint='use target="cpu"')
        if self.accuracy not in ACCURACIES:
            raise SymdiffError(
                f"unknown accuracy {self.accuracy!r}", hint=f"one of {', '.join(ACCURACIES)}"
            )
        if self.parallel not in ("auto", True, False):
            raise SymdiffError(f"parallel is {self.parallel!r}", hint='"auto", True or False')
        valid = self.checkpoint is None or self.checkpoint in CHECKPOINTS
        if not valid and not (isinstance(self.checkpoint, int) and self.checkpoint > 0):
            raise SymdiffError(
                f"checkpoint is {self.checkpoint!r}",
                hint='None, "auto", "none", "revolve" or a number of bytes',
            )
        if self.dtype is not None and np.dtype(self.dtype) not in (np.float32, np.float64):
            raise SymdiffError(f"dtype {self.dtype!r} is not supported", hint="float32 or float64")


@dataclass(slots=True)
class Source:
    """Where the programs of a callable come from, one per set of static values."""

    name: str
    parameters: Parameters
    trace: Callable[[Mapping[str, Any]], Program]
    programs: dict[Any, Program] = field(default_factory=dict)

    def program(self, static: Mapping[str, Any]) -> Program:
        key = _static_key(static)
        found = self.programs.get(key)
        if found is None:
            found = self.programs[key] = self.trace(static)
        return found


def _static_key(static: Mapping[str, Any]) -> Any:
    key = tuple((k, type(v), _hashable(v)) for k, v in static.items())
    return key


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value), tuple(_hashable(v) for v in value)
    if isinstance(value, dict):
        return tuple((k, _hashable(v)) for k, v in value.items())
    try:
        hash(value)
    except TypeError as e:
        raise SymdiffError(
            f"a static argument of type {type(value).__name__} is not hashable"
        ) from e
    return value


def _not_compiled(*_: Any) -> Any:
    return NotImplemented


def _suspect(outputs: Sequence[Expr], dtype: str) -> Expr:
    """What makes an element go to the second tier."""
    return doubt(outputs, dtype=dtype)


def _widen(outputs: Sequence[Expr]) -> tuple[tuple[Expr, ...], Expr]:
    """The second tier, imported when it is needed first."""
    from symdiff.passes.widen import widen

    return widen(outputs)


def _always_wide(outputs: Sequence[Expr]) -> bool:
    """Whether the second tier can be the only one before balls."""
    from symdiff.passes.widen import has_rules

    return has_rules(outputs)


class SymbolicFunction:
    """A traced function, or one of its derivatives, compiled when first called.

    Call it with Python numbers or NumPy arrays; scalar parameters broadcast like
    a ufunc. float32 arrays are computed and returned in float32.

    Attributes
    ----------
    grad, value_and_grad, jacobian, hessian : the derivatives, as `SymbolicFunction`.
    jvp, vjp, hvp : products, called as `jvp(primals, tangents)`.
    expr : the simplified expression, in SymPy, nested as the result is.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        wrapped: Callable[..., Any] | None = None,
        final: Callable[[Program], Program] = pipeline.value,
        origin: tuple[Any, ...] | None = None,
    ) -> None:
        self._source, self._options, self._final, self._origin = source, options, final, origin
        self._emitted: dict[Any, tuple[Program, Tiered]] = {}
        self._fast: Callable[..., Any] = _not_compiled
        self._derived: dict[Any, SymbolicFunction] = {}
        if wrapped is not None:
            functools.update_wrapper(self, wrapped, updated=())
        self.__name__ = source.name

    # ------------------------------------------------------------------ calling
    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None and not kwargs:
            result = self._fast(*args)
            if result is not NotImplemented:
                return result
        real, static = self._source.parameters.bind(args, kwargs)
        return self._run(real, static, out)

    def _run(self, real: tuple[Any, ...], static: Mapping[str, Any], out: Any) -> Any:
        program, kernel = self._compiled(static)
        if out is None:
            return map_tree(kernel(real).__getitem__, program.tree)
        flat = _flat_out(program.tree, out, len(program.outputs))
        kernel(real, flat)
        return out

    def _compiled(self, static: Mapping[str, Any]) -> tuple[Program, Tiered]:
        key = _static_key(static)
        found = self._emitted.get(key)
        if found is None:
            program = self._final(self._source.program(static))
            kernel = self._emit(program)
            found = self._emitted[key] = (program, kernel)
            always = self._options.accuracy == "certified"
            if not (self._source.parameters.static or self._options.dtype or always):
                self._use_fast(program, kernel.kernel)
        return found

    def _emit(self, program: Program) -> Tiered:
        options, emitted = self._options, pipeline.emission(program)

        def kernel(outputs: Sequence[Expr], **tiers: Any) -> Kernel:
            return Kernel(
                program.name, program.params, outputs, dtype=options.dtype,
                accuracy=options.accuracy, parallel=options.parallel, cache=options.cache,
                **tiers,
            )  # fmt: skip

        tested = options.accuracy in ("high", "strict")
        found = wide = kernel(emitted.reference, widen=_widen)
        if options.accuracy != "strict" or not _always_wide(emitted.reference):
            tiers = {"suspect": _suspect, "second": wide} if tested else {}
            found = kernel(emitted.outputs, **tiers)
        return Tiered(found, emitted.reference, options.accuracy == "certified")

    def _use_fast(self, program: Program, kernel: Kernel) -> None:
        """Calls with Python floats go straight to the compiled entry."""
        count, fast, tree = len(program.outputs), kernel.fast, program.tree
        if isinstance(tree, int) or (isinstance(tree, tuple) and _is_flat(tree)):
            self._fast = fast
            return

        def nested(*args: Any) -> Any:
            result = fast(*args)
            if result is NotImplemented:
                return result
            return map_tree(
                (result,).__getitem__ if count == 1 else result.__getitem__, program.tree
            )

        self._fast = nested

    # -------------------------------------------------------------- derivatives
    @property
    def grad(self) -> SymbolicFunction:
        """The gradient: one result per parameter in `wrt`, a tuple if several."""
        return self._derive("grad", lambda p, wrt: pipeline.gradient(p, wrt))

    @property
    def value_and_grad(self) -> SymbolicFunction:
        """(value, gradient), from one kernel."""
        return self._derive("value_and_grad", lambda p, wrt: pipeline.value_and_gradient(p, wrt))

    @property
    def jacobian(self) -> SymbolicFunction:
        """d output / d parameter, nested as the outputs, then as the parameters."""
        return self._derive("jacobian", lambda p, wrt: pipeline.jacobian(p, wrt))

    @property
    def hessian(self) -> SymbolicFunction:
        """Second derivatives; `H[i][j]` if there are several parameters."""
        return self._derive("hessian", lambda p, wrt: pipeline.hessian(p, wrt))

    @property
    def jvp(self) -> Product:
        """`jvp(primals, tangents)` -> (value, tangent)."""
        return self._product("jvp", pipeline.jvp)

    @property
    def vjp(self) -> Product:
        """`vjp(primals, cotangents)` -> (value, one cotangent per parameter)."""
        return self._product("vjp", pipeline.vjp)

    @property
    def hvp(self) -> Product:
        """`hvp(primals, v)` -> the Hessian times v."""
        return self._product("hvp", pipeline.hvp)

    def diff(self, *names: str | int) -> SymbolicFunction:
        """The mixed partial derivative by each name (or position) in turn."""
        resolved = tuple(self._parameter(n) for n in names)
        return self._derive(
            "diff_" + "_".join(resolved) if resolved else "value",
            lambda p, _: pipeline.derivative(p, resolved),
            ("diff", resolved),
        )

    def _derive(
        self,
        name: str,
        build: Callable[[Program, tuple[str, ...]], Program],
        origin: tuple[Any, ...] | None = None,
    ) -> SymbolicFunction:
        found = self._derived.get(origin or name)
        if found is None:
            wrt = self._wrt()
            source = Source(
                f"{self.__name__}_{name}",
                self._source.parameters,
                lambda static: build(self._source.program(static), wrt),
            )
            found = SymbolicFunction(
                source, self._options, None, _as_is, (self, *(origin or ("get", name)))
            )
            found.__doc__ = f"{name} of {self.__name__}."
            found.__wrapped__ = getattr(self, "__wrapped__", None)  # type: ignore[attr-defined]
            self._derived[origin or name] = found
        return found

    def _product(self, name: str, build: Callable[..., Program]) -> Product:
        found = self._derived.get(name)
        if found is None:
            wrt = self._wrt()
            source = Source(
                f"{self.__name__}_{name}",
                self._source.parameters,
                lambda static: build(self._source.program(static), wrt),
            )
            found = Product(source, self._options, None, _as_is, (self, "get", name))
            found.wrt = wrt
            self._derived[name] = found
        assert isinstance(found, Product)
        return found

    def _wrt(self) -> tuple[str, ...]:
        chosen = self._options.wrt
        if chosen is None:
            return self._source.parameters.real
        return tuple(self._parameter(w) for w in chosen)

    def _parameter(self, which: str | int) -> str:
        parameters = self._source.parameters
        if isinstance(which, int):
            if not -len(parameters.names) <= which < len(parameters.names):
                raise SymdiffError(f"{self.__name__} has no parameter number {which}")
            which = parameters.names[which]
        name = str(which)
        if name not in parameters.real:
            kind = "static" if which in parameters.static else "unknown"
            raise SymdiffError(
                f"cannot differentiate {self.__name__} by the {kind} parameter '{name}'",
                hint=f"its real parameters are {', '.join(parameters.real) or 'none'}",
            )
        return name

    # -------------------------------------------------------------- inspection
    @property
    def program(self) -> Program:
        """The simplified program, static parameters at their defaults."""
        return self._compiled(self._default_static())[0]

    @property
    def raw_program(self) -> Program:
        """The program as captured, before simplification."""
        return self._source.program(self._default_static())

    @property
    def expr(self) -> Any:
        """The simplified expression (SymPy), nested as the result is."""
        from symdiff.codegen.symbolic import to_sympy

        program = self.program
        outputs = pipeline.closed_forms(program.outputs)
        return _map_leaves(to_sympy(outputs).__getitem__, program.tree)

    def source(self, target: str = "cpu") -> str:
        """Readable source of the kernel: "cpu" (Numba), "c" or "llvm"."""
        from symdiff.codegen.c import c_source
        from symdiff.codegen.python import function_source

        program, kernel = self._compiled(self._default_static())
        outputs = kernel.kernel.outputs
        dtype = np.dtype(self._options.dtype or np.float64).name
        if target == "cpu":
            return function_source(self.__name__, program.params, outputs, dtype=dtype)
        if target == "c":
            return c_source(self.__name__, program.params, outputs, dtype=dtype)
        if target == "llvm":
            return kernel.kernel.llvm()
        raise TargetError(f"no source for target {target!r}", hint='use "cpu", "c" or "llvm"')

    def latex(self) -> str:
        """The simplified expression in LaTeX."""
        from symdiff.codegen.symbolic import to_sympy
        from symdiff.codegen.text import format_latex

        texts = [format_latex(e) for e in to_sympy(pipeline.closed_forms(self.program.outputs))]
        return texts[0] if len(texts) == 1 else r"\left(" + r",\ ".join(texts) + r"\right)"

    def report(self) -> Report:
        """What was traced, cancelled and found, and the measured accuracy: see
        `symdiff.report.Report`."""
        from symdiff.certify import accuracy
        from symdiff.report import report

        return replace(report(self.raw_program, self._wrt()), accuracy=accuracy(self))

    def save(self, path: Any, *, hessian: bool = False) -> None:
        """Write a standalone module with the value, gradient and both together."""
        from symdiff.export import save_module

        save_module(path, self.raw_program, self._wrt(), hessian=hessian, dtype=self._options.dtype)

    def _default_static(self) -> dict[str, Any]:
        parameters = self._source.parameters
        missing = [n for n in parameters.static if n not in parameters.defaults]
        if missing:
            raise SymdiffError(
                f"{self.__name__} has no single expression: '{missing[0]}' is static and has "
                "no default",
                hint="give the parameter a default",
            )
        return {n: parameters.defaults[n] for n in parameters.static}

    # ------------------------------------------------------------- composition
    def __symdiff_trace__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Inline this callable into a function that is being traced."""
        real, static = self._source.parameters.bind(args, kwargs)
        program = self._source.program(static)
        mapping = {ir.var(n): ir.as_expr(v) for n, v in zip(program.params, real, strict=True)}
        outputs = ir.substitute((*program.outputs, *program.domain), mapping)
        count = len(program.outputs)
        tree = _map_leaves(outputs[:count].__getitem__, program.tree)
        return Inlined(tree, outputs[count:])

    def __reduce__(self) -> Any:
        if self._origin is not None:
            return _derived_from, self._origin
        wrapped = getattr(self, "__wrapped__", None)
        if wrapped is not None:
            name = wrapped.__qualname__
            module = sys.modules.get(wrapped.__module__)
            found: Any = module
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is self:
                return _global, (wrapped.__module__, name)
        return _restored, (wrapped, self._options, self._source.parameters.static)

    def __repr__(self) -> str:
        return f"<symdiff function {self.__name__}({', '.join(self._source.parameters.names)})>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        raise SymdiffError(
            f"{self.__name__} is a method",
            hint="decorate a function, and pass what it reads of self",
        )


class Product(SymbolicFunction):
    """A product with a vector: called as `f.jvp(primals, tangents)`.

    `primals` is the tuple of all arguments (or the one argument itself), the
    vector a tuple with one entry per parameter in `wrt` (`jvp`, `hvp`) or nested
    as the outputs (`vjp`).
    """

    wrt: tuple[str, ...] = ()

    def __call__(  # type: ignore[override]
        self, primals: Any, vector: Any, /, *, out: Any = None, **kwargs: Any
    ) -> Any:
        args = primals if isinstance(primals, (tuple, list)) else (primals,)
        real, static = self._source.parameters.bind(tuple(args), kwargs)
        program, _ = self._compiled(static)
        entries = list(_leaves(vector))
        needed = len(program.params) - len(real)
        if len(entries) != needed:
            raise SymdiffError(
                f"{self.__name__} takes a vector of {needed} entries, not {len(entries)}"
            )
        return self._run((*real, *entries), static, out)

    def _use_fast(self, program: Program, kernel: Kernel) -> None:
        """Products are called with nested arguments; there is no flat entry."""


def _is_flat(tree: tuple[Any, ...]) -> bool:
    """Whether the result is the tuple of all outputs in order."""
    return len(tree) > 1 and all(isinstance(t, int) and t == i for i, t in enumerate(tree))


def _as_is(program: Program) -> Program:
    return program


def _leaves(tree: Any) -> Iterable[Any]:
    if isinstance(tree, (tuple, list)):
        for t in tree:
            yield from _leaves(t)
    elif isinstance(tree, dict):
        for t in tree.values():
            yield from _leaves(t)
    else:
        yield tree


def _map_leaves(function: Callable[[int], Any], tree: Any) -> Any:
    """`map_tree` for leaves that NumPy should keep as objects."""
    if isinstance(tree, np.ndarray):
        result = np.empty(tree.shape, object)
        for index, i in np.ndenumerate(tree):
            result[index] = function(int(i))
        return result
    if isinstance(tree, tuple):
        return tuple(_map_leaves(function, t) for t in tree)
    if isinstance(tree, list):
        return [_map_leaves(function, t) for t in tree]
    if isinstance(tree, dict):
        return {k: _map_leaves(function, t) for k, t in tree.items()}
    return function(int(tree))


def _flat_out(tree: Any, out: Any, count: int) -> list[Any]:
    """The arrays of `out`, which is nested as the result, in output order."""
    flat: list[Any] = [None] * count

    def visit(t: Any, o: Any) -> None:
        if isinstance(t, np.ndarray):
            for index, i in np.ndenumerate(t):
                flat[int(i)] = o[(*index, ...)]
        elif isinstance(t, (tuple, list)):
            if not isinstance(o, (tuple, list)) or len(o) != len(t):
                raise SymdiffError(f"out must be nested as the result, with {len(t)} entries here")
            for a, b in zip(t, o, strict=True):
                visit(a, b)
        elif isinstance(t, dict):
            for k in t:
                visit(t[k], o[k])
        elif o is not None:
            flat[int(t)] = o

    visit(tree, out)
    return flat


def _global(module: str, name: str) -> Any:
    import importlib

    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _restored(fun: Callable[..., Any], options: Options, static: tuple[str, ...]) -> Any:
    return _symbolic(fun, options, static)


def _derived_from(parent: SymbolicFunction, kind: str, what: Any) -> SymbolicFunction:
    return parent.diff(*what) if kind == "diff" else getattr(parent, what)


# -------------------------------------------------------------------- entrances
def _symbolic(
    fun: Callable[..., Any], options: Options, static: Iterable[str] | str | None
) -> SymbolicFunction:
    parameters = Parameters(fun, static)

    def trace(values: Mapping[str, Any]) -> Program:
        program = capture(fun, values)
        facts = _conditions(options.domain, program)
        return replace(program, assumptions=(*program.assumptions, *facts))

    return SymbolicFunction(Source(fun.__name__, parameters, trace), options, fun)


def _conditions(domain: Domain, program: Program) -> list[ir.Expr]:
    """What `domain=` says, as conditions on the parameters."""
    if domain is None:
        return []
    if isinstance(domain, str):
        from symdiff.frontend.expression import parse_condition

        return [parse_condition(domain, program.params)]
    facts = []
    for name, bounds in domain.items():
        if name not in program.params:
            raise SymdiffError(f"domain names '{name}', which {program.name} does not take")
        low, high = bounds
        x = ir.var(name)
        if low is not None and low != -np.inf:
            facts.append(ir.le(low, x))
        if high is not None and high != np.inf:
            facts.append(ir.le(x, high))
    return facts


def symgrad(
    fun: Callable[..., Any] | None = None,
    *,
    wrt: Wrt = None,
    static: Iterable[str] | str | None = None,
    domain: Domain = None,
    dtype: Any = None,
    target: str = "cpu",
    accuracy: str = "high",
    parallel: bool | str = "auto",
    checkpoint: str | int | None = None,
    cache: bool = True,
) -> Any:
    """Trace a plain Python function; use as `@symgrad`, `@symgrad(...)` or `symgrad(f)`.

    Parameters
    ----------
    fun : a function of real scalars, written in plain Python, `math` and `numpy`.
    wrt : names or positions of the parameters to differentiate by; default all real ones.
    static : further parameters to specialise on, as Python values.
    domain : what is known of the arguments: `{"x": (0, None)}` or `"x > 0"`.
    dtype : float32 or float64, to compute in whatever the arguments are.
    target : "cpu".
    accuracy : "fast", "high", "strict" or "certified".
    parallel : whether large arrays use all cores; "auto" decides by size.
    checkpoint : how loops keep their states; functions of scalars have none.
    cache : whether compiled kernels are kept on disk.

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
    options = Options(names, domain, dtype, target, accuracy, parallel, checkpoint, cache)
    if fun is None:
        return lambda f: symgrad(
            f, wrt=wrt, static=static, domain=domain, dtype=dtype, target=target,
            accuracy=accuracy, parallel=parallel, checkpoint=checkpoint, cache=cache,
        )  # fmt: skip
    if isinstance(fun, SymbolicFunction):
        if options == Options():
            return fun
        return SymbolicFunction(fun._source, options, fun, fun._final, None)
    return _symbolic(fun, options, static)


def grad(fun: Callable[..., Any], wrt: Wrt = None) -> SymbolicFunction:
    """The gradient of a function, as `symgrad(fun, wrt=wrt).grad`."""
    return _function(fun, wrt).grad


def value_and_grad(fun: Callable[..., Any], wrt: Wrt = None) -> SymbolicFunction:
    """(value, gradient) of a function."""
    return _function(fun, wrt).value_and_grad


def jacobian(fun: Callable[..., Any], wrt: Wrt = None) -> SymbolicFunction:
    """The Jacobian of a function that returns several values."""
    return _function(fun, wrt).jacobian


def hessian(fun: Callable[..., Any], wrt: Wrt = None) -> SymbolicFunction:
    """The Hessian of a function."""
    return _function(fun, wrt).hessian


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """(value, tangent) of a function at `primals` along `tangents`."""
    return _function(fun, None).jvp(primals, tangents)


def vjp(fun: Callable[..., Any], primals: Any, cotangents: Any) -> Any:
    """(value, cotangents of the parameters) of a function at `primals`."""
    return _function(fun, None).vjp(primals, cotangents)


def _function(fun: Callable[..., Any], wrt: Wrt) -> SymbolicFunction:
    result: SymbolicFunction = symgrad(fun, wrt=wrt)
    return result
