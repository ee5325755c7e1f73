"""`SymbolicFunction`: one callable, a value or a derivative, compiled when called.

Its derivatives are `SymbolicFunction`s again, so they nest, take the same
arguments, and each has its expression, its source and its report.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from symdiff.api import (
    bound,
    by_values,
    comparing,
    entries,
    firstcalls,
    inspection,
    labelled,
    narrow_arguments,
    per_slope,
    pickles,
    seen_forms,
)
from symdiff.api.entries import Kind
from symdiff.api.error_bounds import error_bound
from symdiff.api.inspection import COMPANION
from symdiff.api.leaves import (
    flattened,
    inlined,
    leaves_of,
    must_be_defined,
    named_leaves,
    regrouped,
    renested,
)
from symdiff.api.taylor_series import taylor
from symdiff.api.typed import Called, P, Q, R_co, S
from symdiff.api.whole_arguments import must_not_round
from symdiff.api.wrapping_integers import must_fit
from symdiff.errors import SymdiffError, outermost_in
from symdiff.frontend import (
    Parameters,
    Shapes,
    Trees,
    from_sympy,
    pytrees,
    runs_when_traced,
)
from symdiff.frontend.captures import noting, of_function
from symdiff.frontend.signature import python_function
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import OptimizedProgram, Program, flatten_like, in_python
from symdiff.pipeline.derivation import Source, Step
from symdiff.pipeline.domain_checks import demands
from symdiff.pipeline.kernels.cuda import CudaKernels
from symdiff.pipeline.kernels.loops import ArrayKernels
from symdiff.pipeline.keys import static_key
from symdiff.pipeline.options import Options
from symdiff.pipeline.tracing import source_of
from symdiff.process.locks import Lock
from symdiff.process.progress import compiling
from symdiff.runtime.dispatch import CompiledEntry
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.fallback import Demands, Tiered, _apart

if TYPE_CHECKING:
    from symdiff.diagnostics.report import Report


_KINDS: dict[str, type[SymbolicFunction]] = {}
"""The derivatives that are called in a way of their own, by the step that makes them; see
`symdiff.api.directional`."""


@outermost_in("_general", "expr", "program", "numba", "numba_cuda", "cse", "source", "ptx", "latex", "report", "save", "map", "diff")  # fmt: skip
class SymbolicFunction(Called[P, R_co]):
    """A traced function, or one of its derivatives, compiled when first called.

    Call it with Python numbers or NumPy arrays; scalar parameters broadcast like
    a ufunc. float32 arrays are computed and returned in float32. `out=` takes arrays for the
    results, unless the function has a parameter of that name.

    Attributes
    ----------
    grad, value_and_grad, jacobian, hessian : the derivatives, as `SymbolicFunction`.
    jvp, vjp, hvp : products, called as `jvp(primals, tangents)`; expr : the simplified expression, in SymPy.

    Notes
    -----
    `__call__` is a slot, which a call reads from C without a Python frame: it holds the general
    path at first, and from the first compiled entry on the dispatch stub in front of all entries
    (`runtime.dispatch`).
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")
    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)
    _selects = True  # whether its arguments are those of a plain call, in order
    error_bound, taylor = error_bound, taylor

    def __init_subclass__(cls, step: str | None = None) -> None:
        if step is not None:
            _KINDS[step] = cls

    def __init__(
        self,
        source: Source,
        options: Options,
        wrapped: Callable[..., Any] | None = None,
        parent: SymbolicFunction | None = None,
    ) -> None:
        if source.checkpoint != options.checkpoint:
            source = source.keeping(options.checkpoint)
        self._source, self._options, self._parent = source, options, parent
        self._lock, self._opening = Lock(), Lock()
        self._begin()
        self._derived: dict[Step, SymbolicFunction] = {}
        self._nested: tuple[Parameters, tuple[pytrees.Node, ...]] | None = None
        self._expression: tuple[Any, Any] | None = None
        self._epoch = source.epoch
        self._served = entries.Served(self._general, source, options.cache)
        self._symbols: Mapping[str, Any] = {} if parent is None else parent._symbols
        if wrapped is not None:
            functools.update_wrapper(self, wrapped, updated=())
        self.__name__ = source.name
        self._enter(self._general)

    def _begin(self) -> None:
        """Start without any kernel."""
        source, options = self._source, self._options
        self._emitted: dict[Any, tuple[OptimizedProgram, Tiered]] = {}
        self._compared: set[Any] = set()
        self._arrays, self._cuda = ArrayKernels(source, options), CudaKernels(source, options)
        self._called: set[Any] = set()
        self._dtypes: dict[Any, Any] = {}
        self._route: Callable[[Sequence[Any], Any], Any] | None = None
        self._waiting: Callable[[], None] | None = None
        self._numba: dict[str, Any] = {}
        self._forms_tried: dict[Any, int] = {}
        self._twins: dict[tuple[pytrees.Node, ...], SymbolicFunction] = {}

    def _fresh(self) -> None:
        """Forget kernels of values that have changed since the function was captured."""
        if self._source.fresh() == self._epoch:
            return
        with self._opening:
            self._epoch = self._source.epoch
            self._source.by_value.refusals.clear()
            self._begin()
            self._served.begin()

    # ------------------------------------------------------------------ calling
    def _enter(self, entry: Callable[..., Any]) -> None:
        """Calls go to `entry` from now on."""
        self.__call__ = entry  # type: ignore[method-assign]

    def _general(self, /, *args: Any, **kwargs: Any) -> Any:
        """The general path of a call."""
        if (result := by_values.ask(self, args, kwargs)) is not NotImplemented:
            return result
        if (result := seen_forms.ask(self, args, kwargs)) is not NotImplemented:
            return result
        comparing.refuse_different(self)
        return by_values.compiled_or_run(self, args, kwargs)

    def _out(self, kwargs: dict[str, Any]) -> Any:
        """Take `out=` out of the arguments of a call, if it does not name a parameter."""
        return None if "out" in self._source.parameters.names else kwargs.pop("out", None)

    def _call(self, /, *args: Any, **kwargs: Any) -> Any:
        """A call of what has been captured."""
        named = dict(kwargs)
        out = self._out(named)
        stream = self._cuda.stream(named)
        real, static = self._source.parameters.bind(args, named)
        result = self._result(real, static, out, stream)
        if out is None and stream is None and self._selects:
            seen_forms.learn(self, args, named, result)
        return result

    def _result(self, real: tuple[Any, ...], static: dict[str, Any], out: Any, stream: Any) -> Any:
        """What a call with sorted arguments returns."""
        route = self._route if not static and stream is None else None
        if route is not None and not narrow_arguments.kinds_matter(self, real):
            result = route(real, out)
            if result is not NotImplemented:
                return result
        if out is None and any(map(labelled.is_labelled, real)):
            result = labelled.result(self, real, static)
            if result is not NotImplemented:
                return result
        real = self._plain(real)
        if any(map(pytrees.is_container, real)):
            nodes, leaves = leaves_of(self, real)
            if out is not None:
                self._twin(nodes)(*leaves, **static, out=flattened(self, out, nodes))
                return out
            return regrouped(self, self._twin(nodes)(*leaves, **static), nodes)
        key = static_key(static)
        if out is None and stream is None and narrow_arguments.kinds_matter(self, real):
            result = narrow_arguments.in_kinds_of_python(self, real, static, key)
            if result is not NotImplemented:
                return result
        must_not_round(self, real, static)
        must_fit(self, real, static)
        kept = comparing.kept(self, real, static, out)
        with contextlib.nullcontext() if key in self._called else compiling(self.__name__):
            result = self._run(real, static, out, stream)
            self._called.add(key)
            if stream is None:
                comparing.called(self, kept, static, result)
        return result

    def _run(
        self, real: tuple[Any, ...], static: Mapping[str, Any], out: Any, stream: Any = None
    ) -> Any:
        placed = self._cuda.placed(real, out, stream)
        if placed is not None:
            return self._cuda(placed, static, out, stream)
        try:
            return firstcalls.run(self, real, static, out)
        except TypeError:
            self._cuda.must_not_be_there(real)
            raise

    def _run_here(self, real: tuple[Any, ...], static: Mapping[str, Any], out: Any) -> Any:
        """Compute on the CPU."""
        shapes = self._source.shapes(static, real)
        raw = self._source.raw(static, shapes)
        if per_slope.involved(self._source, raw, shapes):
            return per_slope.called(self, raw, real, static, shapes, out)
        if isinstance(raw, LoopProgram):
            result = self._arrays(raw, real, static, shapes, out)
            if entries.may_be_used(self, shapes) and self._arrays.in_doubles(raw):
                comparing.serve(self, real, static, entries.use_for_program, raw, shapes)
            return result
        if raw.of_python:
            firstcalls.must_be_of_python(self, real)
        optimized, kernel = self._compiled(static, shapes)
        if out is None:
            values = kernel.interpreted(real) if entries.may_be_used(self, shapes) else None
            if values is None:
                values, optimized, kernel = firstcalls.computed(self, real, static, shapes)
                comparing.serve(self, real, static, entries.note, raw, shapes, optimized, kernel)
            if raw.kinds and not self._source.path:
                values = in_python(values, raw.kinds)
            return optimized.nested(values)
        places = flatten_like(optimized.tree, out, len(optimized.outputs), "out")
        kept = [_apart(v, places) for v in real] if kernel.kernel.made != kernel.validated else real
        kernel(real, places)
        while firstcalls.replaced(self, static, shapes, kernel):
            optimized, kernel = self._compiled(static, shapes)
            kernel(kept, places)
        comparing.serve(self, real, static, entries.note, raw, shapes, optimized, kernel)
        return out

    def _compiled(
        self, static: Mapping[str, Any], shapes: Shapes | None = None
    ) -> tuple[OptimizedProgram, Tiered]:
        raw = self._source.scalar(static, shapes)
        found = self._emitted.get(id(raw))
        if found is None:
            with self._source.once:
                found = self._emitted.get(id(raw))
                if found is None:
                    optimized = self._source.optimized(static, shapes)
                    made = optimized, firstcalls.tiers(self, raw, optimized)
                    found = self._emitted.setdefault(id(raw), made)
        return found

    def _demands(self, program: Program) -> Demands:
        return demands(program) if self._options.check_domain else ()

    def _open(self, kind: Kind, entry: CompiledEntry | None, static: Mapping[str, Any]) -> None:
        """Offer calls to this entry before they take the general path, if there is one."""
        with self._opening:
            self._served.open(kind, entry, static)
            self._enter(self._served.call)

    def _plain(self, real: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, if none would lose its mask, labels or units."""
        if all(type(v) in elementwise.NUMERIC for v in real):
            return real
        named = zip(self._source.parameters.real, real, strict=True)
        return tuple([v if pytrees.is_container(v) else elementwise.plain(n, v) for n, v in named])

    # --------------------------------------------------------------- containers
    def _twin(self, nodes: tuple[pytrees.Node, ...]) -> SymbolicFunction:
        """The function of the leaves of arguments that nest in this way."""
        found = self._twins.get(nodes)
        if found is None:
            parameters = self._source.parameters
            trees = named_leaves(parameters, nodes)
            if self._parent is None:
                wrapped = getattr(self, "__wrapped__", None)
                if wrapped is None:
                    raise SymdiffError(f"{self.__name__} takes numbers and arrays only")
                found = symbolic(wrapped, self._options, parameters.static, trees)
                with noting(self._source.captures):  # its defaults are read in calls
                    of_function(wrapped, python_function(wrapped))
            else:
                must_be_defined(self, nodes)
                kind, by = self._source.path[-1]
                leaves = tuple(leaf for name in by for leaf in trees[name][1])
                found = self._parent._twin(nodes)._derive(f"{self.__name__}", (kind, leaves))
            found._nested = parameters, nodes
            found._source.seen.failures = self._source.seen.failures
            self._twins[nodes] = found
        return found

    # -------------------------------------------------------------- derivatives
    @property
    def grad(self) -> SymbolicFunction[P, Any]:
        """The gradient: one result per parameter in `wrt`, a tuple if several."""
        return self._derive("grad", ("gradient", self._wrt()))

    @property
    def value_and_grad(self) -> SymbolicFunction[P, tuple[R_co, Any]]:
        """(value, gradient), from one kernel."""
        return self._derive("value_and_grad", ("value_and_gradient", self._wrt()))

    @property
    def jacobian(self) -> SymbolicFunction[P, Any]:
        """d output / d parameter, of the shape of the output, followed by that of the parameter; nested
        likewise. With `sparse=True` SciPy CSR matrices."""
        return self._derive("jacobian", ("jacobian", self._wrt()))

    @property
    def hessian(self) -> SymbolicFunction[P, Any]:
        """Second derivatives; `H[i][j]` if there are several parameters. With `sparse=True` SciPy CSR matrices."""
        return self._derive("hessian", ("hessian", self._wrt()))

    @property
    def jvp(self) -> SymbolicFunction[..., Any]:
        """`jvp(primals, tangents)` -> (value, tangent)."""
        return self._derive("jvp", ("jvp", self._wrt()))

    @property
    def vjp(self) -> SymbolicFunction[..., Any]:
        """`vjp(primals, cotangents)` -> (value, one cotangent per parameter)."""
        return self._derive("vjp", ("vjp", self._wrt()))

    @property
    def hvp(self) -> SymbolicFunction[..., Any]:
        """`hvp(primals, v)` -> the Hessian times v."""
        return self._derive("hvp", ("hvp", self._wrt()))

    @runs_when_traced
    def diff(self, *names: str | int) -> SymbolicFunction[P, R_co]:
        """The mixed partial derivative by each name (or position) in turn."""
        by = tuple(self._parameter(n) for n in names)
        return self._derive("_".join(("diff", *by)), ("derivative", by))

    def _derive(self, name: str, step: Step) -> SymbolicFunction[Q, S]:
        found: Any = self._derived.get(step)
        if found is None:
            source = self._source.then(f"{self.__name__}_{name}", step)
            found = _KINDS.get(step[0], SymbolicFunction)(source, self._options, None, self)
            own = self.__doc__ if getattr(self, "__wrapped__", None) else None
            found.__doc__ = f"{name} of {self.__name__}." + (f"\n\n{own}" if own else "")
            found.__wrapped__ = getattr(self, "__wrapped__", None)
            found = self._derived.setdefault(step, found)
        typed: SymbolicFunction[Q, S] = found
        return typed

    def _wrt(self) -> tuple[str, ...]:
        real, chosen = self._source.parameters.real, self._options.wrt
        if chosen is None:
            return real
        names = {self._parameter(w) for w in chosen}
        return tuple(n for n in real if n in names)

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
        self._source.scalar(self._default_static())
        program: Program = self._source.final(self._default_static())
        return program

    @property
    def raw_program(self) -> Program:
        """The program as captured; of a derivative, as derived."""
        from symdiff.passes.complete.removable import differentiable_forms

        self._source.scalar(self._default_static())
        program: Program = self._source.program(self._default_static())
        return replace(program, outputs=differentiable_forms(program.outputs))

    @property
    def expr(self) -> Any:
        """The simplified expression (SymPy), nested as the result is; arrays are functions of their indices."""
        return inspection.expression(self)

    @property
    def numba(self) -> Any:
        """The Numba dispatcher of this function: to be called in `@njit` functions, where the function
        itself may be called, too. Arrays broadcast where it is a function of numbers."""
        return inspection.numba_dispatcher(self)

    @property
    def numba_cuda(self) -> Any:
        """The device function of Numba-CUDA: to be called with numbers in `@cuda.jit` kernels,
        where the function itself may be called, too."""
        return inspection.numba_device_function(self)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks for when it meets the function in a program that it compiles."""
        from symdiff.runtime.inside_numba.numba_dispatcher import type_of

        return type_of(self)

    @property
    def symbols(self) -> tuple[Any, ...]:
        """The symbols of `.expr`, one for each real parameter: of a function made from a SymPy
        expression the very objects that it came with (arrays are `IndexedBase`s)."""
        import sympy

        names = self._source.parameters.real
        return tuple(self._symbols.get(n) or sympy.Symbol(n) for n in names)

    def cse(self) -> tuple[list[tuple[Any, Any]], Any]:
        """`.expr` with its shared subexpressions named once, as `sympy.cse` gives it.

        Returns
        -------
        replacements : pairs of a symbol and the expression it replaces, in order.
        expressions : nested as `.expr` is, in terms of them.
        """
        return inspection.cse(self)

    def source(self, target: str = "cpu") -> str:
        """Readable source of the kernel: "cpu" (Numba), "cuda" (Numba; of functions with arrays
        CUDA C++ and what the host does), "c", "llvm", or "cuda-c": CUDA C++ for NVRTC or CuPy.

        But for "llvm" and "cuda-c" that is what is computed first, in double arithmetic without
        error tests: what is as right as a call is the module that `save` writes."""
        return inspection.source(self, target)

    def ptx(self, cc: tuple[int, int] = (9, 0), dtype: Any = None) -> str:
        """The PTX of the CUDA kernels for arrays, for a compute capability; in `dtype`, its own by default."""
        self._fresh()
        return self._cuda.ptx(self._default_static(), cc, dtype)

    def latex(self) -> str:
        """The simplified expression in LaTeX."""
        return inspection.latex(self)

    def _repr_latex_(self) -> str | None:
        return inspection.shown(self)

    def report(self) -> Report:
        """What was traced, cancelled and found, and the measured accuracy: see
        `symdiff.diagnostics.report.Report`."""
        return inspection.measured_report(self)

    def _with_calls(self, found: Report) -> Report:
        """A report with how the arguments of calls so far were taken."""
        from symdiff.diagnostics.report import Finding

        calls = self._source.calls(self._default_static())
        return replace(found, findings=(*found.findings, *(Finding("taken", c) for c in calls)))

    @functools.cached_property
    def ufunc(self) -> np.ufunc:
        """As a ufunc of NumPy: `where=`, `out=`, `dtype=`, `outer`, subclasses of arrays as usual.

        Raises
        ------
        UnsupportedError : for functions that are not elementwise, or check their arguments.
        """
        return labelled.ufunc(self)

    def save(self, path: Any, *, hessian: bool = False, companion: str | None = COMPANION) -> None:
        """Write a standalone module, and `companion`, which modules share (None: no other file)."""
        inspection.save(self, path, hessian=hessian, companion=companion)

    def map(self, /, *args: Any, axes: Sequence[int | None] | None = None, **kwargs: Any) -> Any:
        """The results for each entry of the arguments' leading axis, stacked; on all cores.

        Parameters
        ----------
        args, kwargs : as for a call, with one more axis in front where they are mapped.
        axes : for each real argument 0 if it is mapped and None if it is passed as it is;
            by default arrays are mapped and numbers are not.
        """
        if axes is not None and "axes" in self._source.parameters.names:
            raise SymdiffError(
                f"axes= of map() is a parameter of {self.__name__} too",
                hint="pass that by position, and all arguments with a leading axis or as numbers",
            )
        comparing.refuse_different(self)
        return inspection.mapped(self, args, axes, kwargs)

    def _map_elements(
        self, raw: Program, values: Sequence[Any], mapped: Sequence[bool],
        static: Mapping[str, Any], shapes: Shapes,
    ) -> Any:  # fmt: skip
        """`map` of a function of numbers: its elements broadcast, under the mapped axis."""
        return inspection.map_elements(self, raw, values, mapped, static, shapes)

    def _loop_program(self) -> LoopProgram | None:
        """The program of a function with arrays or loops, as it is emitted."""
        static = self._default_static()
        raw = self._source.raw(static)
        return self._source.shown(static) if isinstance(raw, LoopProgram) else None

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
    def __symdiff_plain__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The Python function that replaces this one in calls with numbers, if there is one."""
        o, plain = self._options, not self._source.path and self._expression is None
        if not plain or o.domain or o.dtype or self._source.parameters.arrays:
            return None
        self._source.parameters.bind(args, kwargs)
        return firstcalls.unwrapped(self)

    def __symdiff_trace__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Inline this callable into a function that is traced."""
        self._fresh()
        real, static = self._source.parameters.bind(args, kwargs)
        if any(map(pytrees.is_container, real)):
            nodes, leaves = leaves_of(self, real)
            return renested(self, inlined(self._twin(nodes), leaves, static), nodes)
        return inlined(self, real, static)

    def __reduce__(self) -> Any:
        if self._parent is not None:
            return pickles.derived, (self._parent, self._source.path[-1])
        if self._expression is not None:
            return of_expressions, (*self._expression, self.__name__, self._options)
        return pickles.reduced(self, SymbolicFunction, symbolic)

    def __repr__(self) -> str:
        return f"<symdiff function {self.__name__}({', '.join(self._source.parameters.names)})>"

    @overload  # of properties too, as mypy sees them
    def __get__(self, instance: SymbolicFunction | None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> SymbolicFunction[..., R_co]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The function as a method of an object, whose attributes are constants of it; see `docs/captures.md`."""
        return self if instance is None else bound.method_of(self, instance, symbolic)


def symbolic(
    fun: Callable[..., Any], options: Options, static: Iterable[str] | str | None,
    trees: Trees | None = None,
) -> SymbolicFunction:  # fmt: skip
    """A function to be traced when it is first called; of the leaves of containers, if arguments are."""
    found = SymbolicFunction(source_of(fun, options, static, trees), options, fun)
    if trees is None:  # names that are wrong are refused here
        options.must_name(found._source.parameters.names, found.__name__)
        found._wrt()
    return found


def of_expressions(expr: Any, params: Any, name: str, options: Options) -> SymbolicFunction:
    """SymPy expressions as a function of their symbols."""
    made = from_sympy(expr, params, name)
    result = symbolic(made.function, options, None)
    result._expression, result._symbols = (expr, params), made.symbols
    return result
