"""What a `SymbolicFunction` shows of itself: expressions, sources, reports, modules; and `map`."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symdiff.diagnostics.report import Finding, Report
import numpy as np

from symdiff import ir
from symdiff.api import by_values, firstcalls, per_slope, whole_arguments, wrapping_integers
from symdiff.api.leaves import leaves_of, regrouped
from symdiff.errors import SymdiffError, TargetError, UnsupportedError
from symdiff.frontend import Shapes, pytrees
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program, map_objects
from symdiff.runtime.loops import rows

COMPANION = "symdiff_pairs"
"""Of modules that are saved; see `symdiff.codegen.source.modules.companion`."""
PROMISES = {
    "fast": "double arithmetic; error_bound(...) estimates its errors in a call",
    "high": "within 2**-40 of the number, or of the largest element of its array, checked by probes",
    "strict": "each element within 16 ulp, computed with its rounding errors in every call",
    "certified": "each element proven",
}  # fmt: skip
"""What reports say of programs with arrays and loops, by level (see docs/accuracy.md)."""


def expression(f: Any) -> Any:
    """The simplified expression (SymPy), nested as the result is."""
    if (nested := of_leaves(f)) is not None:
        nodes, twin = nested
        return regrouped(f, expression(twin), nodes)
    if (looped := f._loop_program()) is not None:
        from symdiff.export import loops as loop_export

        try:
            return loop_export.expression(looped, f._symbols)
        except TypeError as error:  # SymPy evaluates conditions on branches that are not taken
            raise UnsupportedError(
                f"SymPy has no expression for {f.__name__}: {error}",
                hint="f.source() shows the program",
            ) from None
    from symdiff.codegen.sympy.translate import to_sympy

    made = to_sympy(_formulas(f), symbols=f._symbols)
    return map_objects(made.__getitem__, f.program.tree)


def _formulas(f: Any) -> tuple[Any, ...]:
    """The outputs of a function of numbers for people, with limits in place of its guards."""
    from symdiff.pipeline.readable_formulas import drops_guards, readable_forms, without_bands

    raw = f._source.scalar(f._default_static())
    if f._source.path and (points := without_bands(raw)) is not raw:
        program, notes = f._source.derived(points)
        return readable_forms(program.outputs, drops_guards(raw, notes))
    return readable_forms(f.program.outputs, drops_guards(raw, f._source.notes[id(raw)]))


def of_leaves(f: Any) -> tuple[Any, Any] | None:
    """Of a function that was called with containers, how they nested last, and the function of
    their leaves; None if it was called with numbers and arrays, or not yet."""
    root = f
    while root._parent is not None:
        root = root._parent
    if not root._twins or root._source.captured:
        return None
    nodes = next(reversed(root._twins))
    return nodes, f._twin(nodes)


def twin_of(f: Any) -> Any:
    """The function itself, or that of the leaves of its arguments."""
    found = of_leaves(f)
    return f if found is None else found[1]


def cse(f: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """`expression` with its shared subexpressions named once."""
    f = twin_of(f)
    if f._loop_program() is not None:
        raise SymdiffError(
            f"{f.__name__} has arrays or loops, of which there is no list of assignments",
            hint="see .expr, or .source()",
        )
    from symdiff.codegen.sympy.translate import shared

    named, made = shared(_formulas(f), f._symbols)
    return named, map_objects(made.__getitem__, f.program.tree)


def source(f: Any, target: str) -> str:
    """Readable source of the kernel, for a target."""
    f._fresh()
    f = twin_of(f)
    from symdiff.codegen.source.c import c_source
    from symdiff.codegen.source.cuda import cuda_source
    from symdiff.codegen.source.python import function_source

    dtype = np.dtype(f._options.dtype or np.float64).name
    name = f.__name__.replace("<lambda>", "function")
    if f._loop_program() is not None:
        from symdiff.export import loops as loop_export

        if target == "llvm":
            return str(f._arrays.llvm(f._source.final(f._default_static())))
        if target == "cuda":
            return str(f._cuda.text(f._default_static()))
        if target != "cpu":
            raise TargetError(
                f"no source for target {target!r} of a function with arrays",
                hint='use "cpu", "cuda" or "llvm"',
            )
        emitted = f._source.final(f._default_static())
        return loop_export.source(name, emitted, dtype)
    optimized, kernel = f._compiled(f._default_static())
    if target == "cpu":
        return function_source(name, optimized.params, optimized.outputs, dtype=dtype)
    if target == "cuda":
        return cuda_source(name, optimized.params, optimized.outputs, dtype=dtype)
    if target == "c":
        return c_source(name, optimized.params, optimized.outputs, dtype=dtype)
    if target == "cuda-c":
        plain = re.sub(r"[^0-9A-Za-z_]", "_", name)
        here = f._cuda.compiled(f._default_static())[1].kernel
        return str(here.whole(f"{plain}_kernel", dtype))
    if target == "llvm":
        return str(kernel.kernel.llvm())
    raise TargetError(
        f"no source for target {target!r}", hint='use "cpu", "cuda", "cuda-c", "c" or "llvm"'
    )


def numba_dispatcher(f: Any) -> Any:
    """The Numba dispatcher of a function, as it is now."""
    f._fresh()
    found = f._numba.get("cpu")
    if found is None:
        from symdiff.runtime.inside_numba.numba_dispatcher import dispatcher

        given = f._source.parameters
        found = dispatcher(f.__name__, given.real, functools.partial(_for_numba, f), given.defaults)
        f._numba["cpu"] = found
    return found


def _for_numba(f: Any, shapes: Any, kinds: Sequence[str]) -> Any:
    """What a function computes for arguments of these ranks and kinds."""
    from symdiff.runtime.inside_numba.numba_dispatcher import Numbers

    static = f._default_static()
    whole_arguments.must_not_round_kinds(f, shapes, kinds, static)
    raw = f._source.raw(static, shapes)
    if per_slope.involved(f._source, raw, shapes):
        raise UnsupportedError(
            f"{f.__name__} of arrays, of an elementwise function, in code that Numba compiles",
            hint='use .diff("x"), which is elementwise: the diagonal of the Jacobian',
        )
    if not isinstance(raw, LoopProgram):
        optimized, tiered = f._compiled(static, shapes)
        changed = f._source.changed(static, shapes)
        return Numbers(optimized, tiered, f, [k for k, n in enumerate(shapes) if n in changed])
    return f._arrays.for_numba(raw, static, shapes, f)


def numba_device_function(f: Any) -> Any:
    """The device function of Numba-CUDA of a function of numbers, as it is now."""
    f._fresh()
    found = f._numba.get("cuda")
    if found is None:
        from symdiff.runtime.cuda.numba_device import device_function

        static = f._default_static()
        f._source.scalar(static)
        optimized, here = f._cuda.compiled(static)
        names = f._source.parameters.real
        host = type(f)(f._source, replace(f._options, target="cpu"))
        found = device_function(f.__name__, names, optimized.tree, here.kernel, lambda *a: host(*a))
        f._numba["cuda"] = found
    return found


def latex(f: Any) -> str:
    """The simplified expression in LaTeX."""
    f = twin_of(f)
    if (looped := f._loop_program()) is not None:
        from symdiff.export import loops as loop_export

        return loop_export.latex(looped)
    from symdiff.codegen.sympy.text import format_latex
    from symdiff.codegen.sympy.translate import to_sympy

    texts = [format_latex(e) for e in to_sympy(_formulas(f))]
    return texts[0] if len(texts) == 1 else r"\left(" + r",\ ".join(texts) + r"\right)"


MOST_SHOWN = 60
"""Operations of a formula that a notebook shows for a function; a longer one takes seconds to write."""


def shown(f: Any) -> str | None:
    """What a notebook shows for a function: its formula, if that is short; else None, for its name."""
    f = twin_of(f)
    try:
        if f._loop_program() is not None:
            return None
        if len(ir.topological(f.program.outputs)) > MOST_SHOWN:
            return None
        return f"$\\displaystyle {latex(f)}$"
    except SymdiffError:
        return None


def measured_report(f: Any) -> Report:
    """What was traced, cancelled and found, and the measured accuracy."""
    if (by_value := by_values.report(f)) is not None:
        return by_value
    from symdiff.diagnostics.report import Finding

    lists = _lists_of_numbers(f)
    f = twin_of(f)
    raw = f._source.raw(f._default_static())
    if isinstance(raw, LoopProgram):
        from symdiff.export.loops import array_report

        told: Report = f._with_calls(array_report(raw, f._wrt()))
        promise = Finding("accuracy", PROMISES[f._options.accuracy])
        findings = (*told.findings, *lists, promise)
        return replace(told, findings=findings, page=lambda report: _page(f, report))
    from symdiff.diagnostics.certify import accuracy
    from symdiff.diagnostics.report import report

    found: Report = f._with_calls(replace(report(f.raw_program, f._wrt()), accuracy=accuracy(f)))
    findings = (*found.findings, *lists)
    return replace(found, findings=findings, page=lambda report: _page(f, report))


def _lists_of_numbers(f: Any) -> tuple[Finding, ...]:
    """What a report says of arguments that are lists of numbers, where an array may be meant."""
    from symdiff.diagnostics.report import Finding

    found = of_leaves(f)
    names = [
        name
        for name, node in zip(f._source.parameters.real, found[0] if found else (), strict=False)
        if node.kind == "list" and all(k == pytrees.LEAF for k in node.children)
    ]
    text = "{0} as a list of numbers: gradients by {0} are lists, those by np.array({0}) arrays"
    return tuple(Finding("taken", text.format(name)) for name in names)


def _page(f: Any, report: Report) -> str:
    from symdiff.export.page.document import page

    return page(f, report)


def save(f: Any, path: Any, *, hessian: bool, companion: str | None) -> None:
    """Write a standalone module."""
    from symdiff.export.companions import check_companion, imported_as, write_module
    from symdiff.export.faces import face_of
    from symdiff.export.loops import array_module
    from symdiff.export.scalar import module_text

    check_companion(companion)
    raw, options = f._source.program(f._default_static()), f._options
    given: dict[str, Any] = {
        "hessian": hessian,
        "dtype": options.dtype,
        "targets": ("cpu",) if options.target == "cpu" else ("cpu", "cuda"),
        "face": face_of(f),
    }
    if isinstance(raw, LoopProgram):
        text = array_module(raw, f._wrt(), **given)
    else:
        text = module_text(
            f.raw_program,
            f._wrt(),
            accuracy=options.accuracy,
            check_domain=options.check_domain,
            companion=imported_as(path, companion),
            **given,
        )
    write_module(path, text, companion)


def mapped(
    f: Any, args: tuple[Any, ...], axes: Sequence[int | None] | None, kwargs: Mapping[str, Any]
) -> Any:
    """The results for each entry of the leading axis, stacked."""
    f._fresh()
    real, static = f._source.parameters.bind(args, kwargs)
    if any(map(_is_tree, real)):
        nodes, leaves = leaves_of(f, real)
        if axes is not None:
            axes = [a for a, n in zip(axes, nodes, strict=True) for _ in range(pytrees.count(n))]
        found = f._twin(nodes).map(*leaves, axes=axes, **static)
        return regrouped(f, found, nodes)
    real = tuple(np.asarray(v) if isinstance(v, (list, tuple)) else v for v in real)
    real = f._plain(real)
    real = f._cuda.located(real)
    if axes is None:
        axes = [0 if np.ndim(v) else None for v in real]
    if len(axes) != len(real) or any(a not in (0, None) for a in axes):
        raise SymdiffError(f"axes is {axes!r}", hint="0 or None for each real argument")
    mapped = [a == 0 for a in axes]
    if any(m and not np.ndim(v) for m, v in zip(mapped, real, strict=True)):
        raise SymdiffError("map() over a number", hint="its entry of axes should be None")
    whole_arguments.must_not_round(f, real, static, mapped)
    wrapping_integers.must_fit(f, real, static, mapped)
    shapes = f._source.shapes(static, real, mapped)
    raw = f._source.raw(static, shapes)
    if not any(mapped):
        raise SymdiffError("map() of nothing", hint="an argument must have a leading axis")
    if not isinstance(raw, LoopProgram):
        return f._map_elements(raw, real, mapped, static, shapes)
    placed = f._cuda.placed(real, None, None)
    if placed is not None:
        return f._cuda.map(raw, placed, mapped, static, shapes)
    return f._arrays.map(raw, real, mapped, static, shapes)


def _is_tree(value: Any) -> bool:
    """Whether an argument of `map` is a container whose leaves are mapped; lists of numbers are
    arrays there."""
    if not pytrees.is_container(value):
        return False
    if type(value) not in (list, tuple):
        return True
    return any(isinstance(v, np.ndarray) or _is_tree(v) for v in value)


def map_elements(
    f: Any,
    raw: Program,
    values: Sequence[Any],
    mapped: Sequence[bool],
    static: Mapping[str, Any],
    shapes: Shapes,
) -> Any:
    """`mapped` of a function of numbers: its elements broadcast, under the mapped axis."""
    rows.leading(values, mapped)
    rank = max([np.ndim(v) - m for v, m in zip(values, mapped, strict=True)])
    placed = f._cuda.placed(values, None, None)
    real = tuple(
        v.reshape(v.shape[:1] + (1,) * (rank + 1 - v.ndim) + v.shape[1:]) if m else v
        for v, m in zip(values if placed is None else placed, mapped, strict=True)
    )
    if placed is not None:
        return f._cuda.map_elements(real, static, shapes)
    values, optimized, _ = firstcalls.computed(f, real, static, shapes)
    return rows.nested(optimized.tree, values)
