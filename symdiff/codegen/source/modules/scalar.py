"""Standalone modules: kernels that import only math, numpy and numba.

The text depends on what it computes only: the same functions give the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from symdiff.codegen.common.temporaries import WIDTH
from symdiff.codegen.source.modules.again import Checks, Demands, Group, Used, again_parts, groups
from symdiff.codegen.source.modules.cuda.scalar import (
    check_targets,
    cuda_evaluate,
    cuda_header,
    cuda_kernel,
    cuda_name,
    cuda_wrapper,
)
from symdiff.codegen.source.modules.face import (
    CHECK_FIXED,
    PLAIN,
    Face,
    all_names,
    check_name,
    def_line,
    documented,
    fixed_checks,
    public_names,
)
from symdiff.codegen.source.modules.first_tier import tested_source
from symdiff.codegen.source.modules.helpers import CACHED, FLINT, definitions, stem
from symdiff.codegen.source.modules.inside import IMPORTS as INSIDE
from symdiff.codegen.source.modules.inside import NUMBERS, inside_source, nests
from symdiff.codegen.source.python import DTYPES, docstring, function_source, local_names
from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir import ONE, ZERO, Expr, where
from symdiff.ir.program import Tree, tree_text

_IMPORTS = "import math\n\nimport numpy as np\nfrom numba import njit, prange\n" + INSIDE.format(
    names="overload"
)
_TESTED_IMPORTS = f"""import math
import warnings

import numpy as np
from numba import njit, objmode, prange
{INSIDE.format(names="intrinsic, overload")}{FLINT}"""


class Function(NamedTuple):
    """One function of a module.

    Attributes
    ----------
    suffix : what is appended to the module's name: "", "grad", "value_and_grad", ...
    outputs : its values, flattened.
    tree : how they nest in what it returns.
    summary : first line of its docstring.
    checks : where it is flagged, and what computes it again.
    """

    suffix: str
    outputs: Sequence[Expr]
    tree: Tree
    summary: str
    checks: Checks = Checks()


def module_source(
    name: str,
    params: Sequence[str],
    functions: Sequence[Function],
    *,
    facts: Mapping[str, Sequence[str]],
    version: str,
    dtype: str = "float64",
    targets: Sequence[str] = ("cpu",),
    demands: Demands = (),
    face: Face = PLAIN,
) -> str:
    """The source of a module with the given functions of the same parameters.

    Each function takes scalars or arrays, which broadcast like a NumPy ufunc's, and
    uses all cores for large arrays. With dtype "float64", float32 arrays are computed
    in double and returned as float32; with "float32" everything is single precision.

    Parameters
    ----------
    name : a Python identifier; functions are called `name` and `name_suffix`.
    params : names of the real parameters.
    functions : what to compute.
    facts : headed lists for the docstring, such as {"Formula": ["h(x) = x + 2"]}.
    version : symdiff's version.
    dtype : "float64" or "float32".
    targets : "cpu", which is always there, and "cuda" for functions with `_cuda` at the
        end of their names, which compute on a device.
    demands : what arguments must satisfy; functions are flagged where they do not.
    face : the signature and docstring of the user's function.

    Raises
    ------
    TargetError : for a target that is not available.
    SymdiffError : if a name cannot be used in a module.
    """
    check_targets(targets)
    if dtype not in DTYPES:
        raise SymdiffError(f"unknown dtype '{dtype}'", hint=f"one of {', '.join(DTYPES)}")
    check_name(name)
    names = [f"{name}_{f.suffix}" if f.suffix else name for f in functions]
    on_device = [cuda_name(n) for n in names] if "cuda" in targets else []
    of = groups([(n, f.checks) for n, f in zip(names, functions, strict=True)]) if params else {}
    parts = [
        _TESTED_IMPORTS if of else _IMPORTS,
        "__all__ = [" + ", ".join(f'"{n}"' for n in [*names, *on_device]) + "]\n"
        f'__version__ = "{version}"\n\n'
        "_PARALLEL = 1 << 15  # arrays with at least so many elements use all cores\n",
    ]
    used = Used()
    for full, function in zip(names, functions, strict=True):
        group = of.get(full)
        tested = group is not None
        parts.append("\n" + _kernel(full, params, function, dtype, tested, used))
        if params:
            parts.append("\n" + _loop(full, params, len(function.outputs), dtype, tested))
        parts.append("\n" + _wrapper(full, params, function, group, face, name))
    if face.fixed:
        parts.append("\n" + CHECK_FIXED)
    parts.append("\n" + _evaluate_source(dtype, bool(of)))
    found = list({id(g): g for g in of.values()}.values())
    if of:
        parts += ["\n" + p for p in again_parts(found, params, demands, name, used, dtype)]
    if any(_has_array(f.tree) for f in functions):
        parts.append("\n" + _STACK)
    parts.append("\n" + _inside(names, params, functions, of, face, name, demands, dtype))
    of_devices: list[str] = []
    if on_device:
        more, of_devices = _cuda_parts(names, params, functions, dtype, of)
        parts += more
    head = _module_docstring(name, params, facts, version, dtype, of_devices, found)
    parts.insert(0, head)
    return "\n".join(parts)


def _inside(
    names: Sequence[str],
    params: Sequence[str],
    functions: Sequence[Function],
    of: Mapping[str, Group],
    face: Face,
    main: str,
    demands: Demands,
    dtype: str,
) -> str:
    """What functions that Numba compiles call."""
    title = "Inside of functions that Numba compiles"
    parts = [f"# {'-' * (97 - len(title))} {title}\n\n{NUMBERS}"]
    parts += [
        inside_source(
            n,
            params,
            len(f.outputs),
            f.tree,
            of.get(n),
            face,
            main,
            demands,
            dtype,
            bool((g := of.get(n)) and g.balls),
        )
        for n, f in zip(names, functions, strict=True)
        if nests(f.tree)
    ]
    return "\n\n".join(parts)


def _cuda_parts(
    names: Sequence[str],
    params: Sequence[str],
    functions: Sequence[Function],
    dtype: str,
    of: Mapping[str, Group],
) -> tuple[list[str], list[str]]:
    """The same functions for CUDA devices, and what is said of them."""
    kernels = [
        _cuda_kernel(n, params, f, dtype, n in of) for n, f in zip(names, functions, strict=True)
    ]
    used = {name: python for _, names, _ in kernels for name, python in names.items()}
    parts = ["\n" + cuda_header(used)]
    for full, function, (text, _, tested) in zip(names, functions, kernels, strict=True):
        results = _nested(function.tree).replace("_stack(", "_stack_cuda(")
        again = ""
        if tested:
            group = of[full]
            again = f"(_{stem(group.name)}_again, {group.columns[full]})"
        count = len(function.outputs)
        wrapper = cuda_wrapper(full, params, count, function.summary, results, again)
        parts += ["\n" + text, "\n" + wrapper]
    parts.append("\n" + cuda_evaluate(dtype, any(tested for _, _, tested in kernels)))
    if any(_has_array(f.tree) for f in functions):
        parts.append("\n" + _STACK_CUDA)
    every = zip(names, kernels, strict=True)
    untested = [cuda_name(n) for n, (_, _, tested) in every if n in of and not tested]
    said = ["Functions with _cuda at the end compute on a CUDA device; they need numba-cuda."]
    if len(untested) < len(of):
        said.append("What they flag is computed again on the host.")
    if untested:
        said.append(f"Without error tests: {', '.join(untested)}.")
    return parts, said


def _cuda_kernel(
    full: str, params: Sequence[str], f: Function, dtype: str, tested: bool
) -> tuple[str, dict[str, str], bool]:
    """The kernel of a function, what it uses of libdevice, and whether it has error tests."""
    if tested:
        outputs = (*f.outputs, where(f.checks.flagged, ONE, ZERO))
        try:
            return *cuda_kernel(full, params, outputs, dtype, tested=True), True
        except UnsupportedError:
            pass
    return *cuda_kernel(full, params, f.checks.plain or f.outputs, dtype), False


def _module_docstring(
    name: str,
    params: Sequence[str],
    facts: Mapping[str, Sequence[str]],
    version: str,
    dtype: str,
    of_devices: Sequence[str],
    found: Collection[Group],
) -> str:
    precision = (
        "Everything is computed and returned in single precision."
        if dtype == "float32"
        else "float32 arrays are computed in double precision and returned as float32."
    )
    lines = [
        f"{name}({', '.join(params)}) and its derivatives, generated by symdiff {version}.",
        "",
    ]
    for heading, items in facts.items():
        if items:
            lines += [f"{heading}:", *(f"    {item}" for item in items), ""]
    lines += ["Scalars or arrays; arrays broadcast and give arrays.", precision]
    lines += _tiers(found)
    lines += of_devices
    return docstring("\n".join(lines)) + "\n"


def _tiers(found: Collection[Group]) -> list[str]:
    """What is said of flagged results, and of calls by compiled functions."""
    lines = []
    computed = [g for g in found if g.checks.closed]
    if computed:
        then = ", then by balls" if all(g.balls for g in computed) else ""
        lines.append(f"Flagged results are computed again in double-double arithmetic{then}.")
    lines.append("Functions that Numba compiles call those of this module with numbers.")
    if any(g.balls for g in computed):
        lines.append("There, balls need Python's lock: in the threads of prange there are none.")
    return lines


def _kernel(
    full: str, params: Sequence[str], function: Function, dtype: str, tested: bool, used: Used
) -> str:
    if tested:
        local = local_names(params, {*definitions(), "flagged"})
        outputs, flagged = function.outputs, function.checks.flagged
        text, writer = tested_source(f"_{stem(full)}", params, local, outputs, flagged, dtype)
        used.helpers |= writer.used
        used.corrected |= writer.functions
        return text
    return function_source(
        f"_{stem(full)}", params, function.outputs, dtype=dtype, decorator=CACHED
    )


def _loop(full: str, params: Sequence[str], count: int, dtype: str, tested: bool) -> str:
    """The loop over arrays, compiled for one core and for all."""
    out = [f"out{k}" for k in range(count)] + ["flagged"] * tested
    local = local_names(params, {*out, "i", f"_{stem(full)}"})
    items = [f"np.{dtype}({p}[i])" for p in local]
    targets = ", ".join(f"{o}[i]" for o in out)
    return (
        f"def _{stem(full)}_loop({', '.join([*local, *out])}):\n"
        f"    for i in prange({local[0]}.size):\n"
        f"        {targets} = _{stem(full)}({', '.join(items)})\n"
        "\n\n"
        f"_{stem(full)}_loops = (\n"
        f'    njit(error_model="numpy", cache=True)(_{stem(full)}_loop),\n'
        f'    njit(error_model="numpy", cache=True, parallel=True)(_{stem(full)}_loop),\n'
        ")\n"
    )


def _wrapper(
    full: str, params: Sequence[str], function: Function, group: Group | None, face: Face, main: str
) -> str:
    used = [f"_{stem(full)}", f"_{stem(full)}_loops", "_evaluate", "_stack", "_check_fixed"]
    again = []
    if group is not None:
        again = [f"again=(_{stem(group.name)}_again, {group.columns[full]})"]
        used.append(f"_{stem(group.name)}_again")
    shown = public_names(all_names(face, params), used)
    local, fixed = shown[: len(params)], shown[len(params) :]
    loops = f"_{stem(full)}_loops" if params else "None"
    lines = [def_line(full, params, shown, face)]
    body = [documented(function.summary, face), *fixed_checks(main, fixed, face)]
    call = _call("_evaluate", [f"_{stem(full)}", loops, str(len(function.outputs)), *local, *again])
    if isinstance(function.tree, int):
        body.append(f"return {call}[0]")
    else:
        (results,) = public_names(["r"], shown)
        body.append(f"{results} = {call}")
        body.append(f"return {_nested(function.tree, results)}")
    return "\n".join([*lines, indent("\n".join(body), "    ")]) + "\n"


def _call(name: str, args: Sequence[str]) -> str:
    line = f"{name}({', '.join(args)})"
    if len(line) < WIDTH:
        return line
    return f"{name}(\n    {', '.join(args)}\n)"


def _nested(tree: Tree, r: str = "r") -> str:
    """The expression that nests the flat results, called `r`, as the function returns them."""

    def array(t: Any) -> str:
        items = ", ".join(f"{r}[{int(i)}]" for i in t.ravel())
        return f"_stack([{items}], {t.shape})"

    return tree_text(tree, lambda i: f"{r}[{i}]", array)


def _has_array(tree: Tree) -> bool:
    if isinstance(tree, dict):
        return any(_has_array(t) for t in tree.values())
    if isinstance(tree, (tuple, list)):
        return any(_has_array(t) for t in tree)
    return isinstance(tree, np.ndarray)


def _evaluate_source(dtype: str, tested: bool) -> str:
    if dtype == "float32":
        scalar, work = "np.float32", "np.dtype(np.float32)"
        result = "np.dtype(np.float32)"
    else:
        scalar, work = "float", "np.dtype(np.float32 if result.itemsize <= 4 else np.float64)"
        result = 'kind if kind.kind == "f" else np.dtype(np.float64)'
    text = _TESTED if tested else _EVALUATE
    return text.format(scalar=scalar, work=work, result=result)


_EVALUATE = '''
def _evaluate(kernel, loops, count, *args):
    """The kernel's results for scalars, or element by element for arrays."""
    if all(type(a) in (float, int) for a in args):
        values = kernel(*({scalar}(a) for a in args))
        return [float(v) for v in (values if count != 1 else (values,))]
    args = [a if type(a) in (float, int) else np.asarray(a) for a in args]
    kind = np.result_type(*args)
    if kind.kind not in "fiub":
        raise TypeError(f"arguments must be real numbers, not {{kind}}")
    result = {result}
    work = {work}
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    if shape == ():
        values = kernel(*({scalar}(a) for a in args))
        return [result.type(v) for v in (values if count != 1 else (values,))]
    full = [a if np.shape(a) == shape else np.broadcast_to(a, shape).copy() for a in args]
    flat = [np.ascontiguousarray(a, dtype=work).reshape(-1) for a in full]
    out = [np.empty(flat[0].size, dtype=work) for _ in range(count)]
    loops[flat[0].size >= _PARALLEL](*flat, *out)
    return [o.reshape(shape).astype(result, copy=False) for o in out]
'''.lstrip("\n")

_TESTED = '''
def _evaluate(kernel, loops, count, *args, again=None):
    """The kernel's results for scalars, or element by element for arrays; `again` is what
    computes those flagged, and which of its results are wanted."""
    if all(type(a) in (float, int) for a in args):
        return [float(v) for v in _at(kernel, again, count, [{scalar}(a) for a in args])]
    args = [a if type(a) in (float, int) else np.asarray(a) for a in args]
    kind = np.result_type(*args)
    if kind.kind not in "fiub":
        raise TypeError(f"arguments must be real numbers, not {{kind}}")
    result = {result}
    work = {work}
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    if shape == ():
        return [result.type(v) for v in _at(kernel, again, count, [{scalar}(a) for a in args])]
    full = [a if np.shape(a) == shape else np.broadcast_to(a, shape).copy() for a in args]
    flat = [np.ascontiguousarray(a, dtype=work).reshape(-1) for a in full]
    out = [np.empty(flat[0].size, dtype=work) for _ in range(count)]
    flagged = [] if again is None else [np.empty(flat[0].size, np.bool_)]
    loops[flat[0].size >= _PARALLEL](*flat, *out, *flagged)
    if again is not None and flagged[0].any():
        _repair(*again, flat, out, np.flatnonzero(flagged[0]))
    return [o.reshape(shape).astype(result, copy=False) for o in out]
'''.lstrip("\n")

_STACK = '''
def _stack(values, shape):
    """Results as one array with the leading axes of `shape`."""
    return np.stack(np.broadcast_arrays(*values)).reshape(shape + np.shape(values[0]))
'''.lstrip("\n")

_STACK_CUDA = '''
def _stack_cuda(values, shape):
    """Results as one array, or on the device as an array of arrays."""
    if not hasattr(values[0], "copy_to_host"):
        return _stack(values, shape)
    made = np.empty(len(values), object)
    made[:] = values
    return made.reshape(shape)
'''.lstrip("\n")
