"""The part of a standalone module that computes on CUDA devices.

Kernels are Numba-CUDA Python, as readable as those for the CPU. A module can be imported
where there is neither numba-cuda nor a device; only calling its CUDA functions fails then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import indent
from typing import Any

from symdiff.codegen.source.cuda import FUSED, kernel_source, simulation
from symdiff.codegen.source.modules.kernels import Function, Kernel
from symdiff.codegen.source.python import docstring, local_names
from symdiff.errors import UnsupportedError
from symdiff.ir import FALSE, ONE, ZERO, Expr, where
from symdiff.ir.program import tree_text


def cuda_name(full: str) -> str:
    """What the CUDA version of a function is called."""
    return f"{full}_cuda"


def _cuda_header(used: dict[str, str]) -> str:
    """What stands before the kernels; `used` are the functions of libdevice."""
    names = "config, cuda" if used else "cuda"
    library = "    from numba.cuda import libdevice\n" if used else ""
    exact = "    from fractions import Fraction\n\n" + indent(FUSED, "    ") + "\n"
    simulated = (
        f"if cuda is not None and config.ENABLE_CUDASIM:  # the simulator has no libdevice\n"
        f"{exact if '_fused' in used.values() else ''}"
        f"    libdevice = {simulation(used)}\n"
        if used
        else ""
    )
    return _HEADER.format(names=names, library=library, simulated=simulated)


def cuda_parts(
    names: Sequence[str],
    params: Sequence[str],
    kernels: Sequence[Kernel],
    functions: Sequence[Function],
    dtype: str,
    part_name: Callable[[int, str], str],
) -> tuple[list[str], list[str]]:
    """The functions of a module for CUDA devices, and what is said of them in its docstring.

    Parameters
    ----------
    names : of the functions.
    part_name : the name of one of the functions of a kernel, by its number.
    """
    made = [_cuda_kernel(n, params, kernels[f.kernel], f, dtype)
            for n, f in zip(names, functions, strict=True)]  # fmt: skip
    used = {name: python for _, names, _ in made for name, python in names.items()}
    parts = [_cuda_header(used)]
    for full, f, (text, _, tested) in zip(names, functions, made, strict=True):
        again = ""
        if tested:
            slopes = max(f.columns, default=0) >= len(kernels[f.kernel].stages[0].outputs)
            total = sum(len(s.outputs) for s in kernels[f.kernel].stages[: 1 + slopes])
            more = "(1,)" if slopes else "()"
            again = f"({part_name(f.kernel, 'parts')}, {total}, {f.columns}, {more})"
        parts += [text, _wrapper(full, params, f, again)]
    some = any(tested for *_, tested in made)
    parts.append(_evaluate(dtype, some))
    if "_stack_cuda(" in "".join(parts):
        parts.append(_STACK)
    said = ["Functions with _cuda at the end compute on a CUDA device; they need numba-cuda."]
    if some:
        said.append("What they flag is computed again on the host.")
    untested = [
        cuda_name(n)
        for n, f, (*_, tested) in zip(names, functions, made, strict=True)
        if kernels[f.kernel].repaired and not tested
    ]
    if untested:
        said.append(f"Without error tests: {', '.join(untested)}.")
    return parts, said


def _cuda_kernel(
    full: str, params: Sequence[str], kernel: Kernel, f: Function, dtype: str
) -> tuple[str, dict[str, str], bool]:
    """The kernel of a function over arrays, what it uses of libdevice, and whether it has error
    tests, whose result is then the last output."""
    outputs = [e for s in kernel.stages for e in s.outputs]
    plain = [e for s in kernel.stages for e in s.plain or s.outputs]
    first = len(kernel.stages[0].outputs)
    stages = kernel.stages[: 1 + (max(f.columns, default=0) >= first)]
    flagged = stages[-1].flagged
    if kernel.repaired and flagged is not FALSE:
        tested = [*(outputs[c] for c in f.columns), where(flagged, ONE, ZERO)]
        try:
            return *_printed(full, params, tested, dtype, True), True
        except UnsupportedError:
            pass
    return *_printed(full, params, [plain[c] for c in f.columns], dtype, False), False


def _printed(
    full: str, params: Sequence[str], outputs: Sequence[Expr], dtype: str, fuse: bool
) -> tuple[str, dict[str, str]]:
    return kernel_source(
        f"_{full}_cuda", params, outputs, dtype, steps=True, fuse=fuse, decorator="@_kernel"
    )


def _wrapper(full: str, params: Sequence[str], f: Function, again: str) -> str:
    """The function that is called; `again` is what computes flagged elements again, and which of its
    results are wanted."""
    kernel = f"_{full}_cuda"
    local = local_names(params, {kernel, "_evaluate_cuda", "_stack_cuda", "r", "stream"})
    count = str(len(f.columns))
    call = ", ".join([kernel, count, "stream", *local, *([f"again={again}"] if again else [])])
    body = [docstring(f"{f.summary[:-1]}, on a CUDA device."), f"r = _evaluate_cuda({call})"]

    def array(t: Any) -> str:
        items = ", ".join(f"r[{int(i)}]" for i in t.ravel())
        return f"_stack_cuda([{items}], {t.shape})"

    body.append(f"return {tree_text(f.tree, 'r[{}]'.format, array)}")
    head = f"def {cuda_name(full)}({', '.join([*local, '*', 'stream=0'])}):"
    return head + "\n" + indent("\n".join(body), "    ") + "\n"


def _evaluate(dtype: str, tested: bool = False) -> str:
    """The function that brings arguments to the device, launches and returns results; elements that a
    kernel with tests flags are computed again on the host."""
    if dtype == "float32":
        work, result = "np.dtype(np.float32)", "np.dtype(np.float32)"
    else:
        work = "np.dtype(np.float32 if result.itemsize <= 4 else np.float64)"
        result = 'kind if kind.kind == "f" else np.dtype(np.float64)'
    repaired = _REPAIRED if tested else ""
    again = ", again=None" if tested else ""
    more = " + (again is not None)" if tested else ""
    return _EVALUATE.format(work=work, result=result, repaired=repaired, again=again, more=more)


_HEADER = '''
try:
    from numba import {names}
{library}except ImportError as error:
    cuda, _NO_CUDA = None, str(error)
{simulated}

def _kernel(function):
    """A kernel, compiled when it is launched first."""
    return function if cuda is None else cuda.jit(function)
'''.lstrip("\n")

_REPAIRED = """    if again is not None:
        at = np.flatnonzero(out.pop().copy_to_host(stream=stream))
        if at.size:  # by the host
            parts, total, columns, more = again
            flat = [np.broadcast_to(a.copy_to_host(stream=stream), size) for a in given[::2]]
            found = np.empty((total, size), work)
            _again(parts, flat, found, at, more)
            for o, c in zip(out, columns):
                values = o.copy_to_host(stream=stream)
                values[at] = found[c, at]
                o.copy_to_device(values, stream=stream)
"""
_EVALUATE = '''
def _evaluate_cuda(kernel, count, stream, *args{again}):
    """The results of a kernel: on the device if an argument is, else on the host."""
    if cuda is None or not cuda.is_available():
        reason = _NO_CUDA if cuda is None else str(cuda.cuda_error()).strip()
        raise RuntimeError(f"there is no CUDA device that Numba can use: {{reason}}")
    plain = [type(a) in (float, int) for a in args]
    there = [hasattr(a, "__cuda_array_interface__") or hasattr(a, "__cuda_ndarray__") for a in args]
    args = [a if p or t else np.asarray(a) for a, p, t in zip(args, plain, there)]
    args = [cuda.as_cuda_array(a) if hasattr(a, "__cuda_array_interface__") else a for a in args]
    kind = np.result_type(*(a if p else a.dtype for a, p in zip(args, plain)), np.float16)
    if kind.kind != "f":
        raise TypeError(f"arguments must be real numbers, not {{kind}}")
    if all(plain) or any(a.dtype.kind in "iub" for a, p in zip(args, plain) if not p):
        kind = np.dtype(np.float64)
    result = {result}
    work = {work}
    shape = np.broadcast_shapes(*(() if p else a.shape for a, p in zip(args, plain)))
    size = int(np.prod(shape))
    given = []
    for a, t in zip(args, there):
        if t:
            if a.shape != shape or not a.is_c_contiguous():
                raise ValueError("arrays on a device must be contiguous and of one shape")
            given += [a.reshape(size), 1]
        elif np.shape(a) == ():
            given += [cuda.to_device(np.full(1, a, work), stream), 0]
        else:
            flat = np.ascontiguousarray(np.broadcast_to(a, shape), dtype=work).reshape(size)
            given += [cuda.to_device(flat, stream), 1]
    out = [cuda.device_array(size, dtype=work, stream=stream) for _ in range(count{more})]
    if size:
        kernel[min(-(-size // 256), 65535), 256, stream](*given, *out)
{repaired}    if any(there):
        return [o.reshape(shape) for o in out]
    found = [o.copy_to_host(stream=stream).reshape(shape).astype(result, copy=False) for o in out]
    return [float(f) for f in found] if all(plain) else [f[()] for f in found]
'''.lstrip("\n")
_STACK = '''
def _stack_cuda(values, shape):
    """Results as one array, or on the device as an array of arrays."""
    if not hasattr(values[0], "copy_to_host"):
        return _stack(values, shape)
    made = np.empty(len(values), object)
    made[:] = values
    return made.reshape(shape)
'''.lstrip("\n")

__all__ = ["cuda_name", "cuda_parts"]
