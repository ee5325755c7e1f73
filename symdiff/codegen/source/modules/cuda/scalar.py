"""The part of a standalone module that computes on CUDA devices.

Kernels are Numba-CUDA Python, as readable as those for the CPU. A module can be imported
where there is neither numba-cuda nor a device; only calling its CUDA functions fails then.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from symdiff.codegen.source.cuda import FUSED, kernel_source, simulation
from symdiff.codegen.source.python import docstring, local_names
from symdiff.errors import TargetError
from symdiff.ir import Expr

TARGETS = ("cpu", "cuda")


def check_targets(targets: Sequence[str]) -> None:
    """Raise a `TargetError` for a target that is not available."""
    for target in targets:
        if target not in TARGETS:
            raise TargetError(f"unknown target '{target}'", hint=" or ".join(TARGETS))


def cuda_name(full: str) -> str:
    """What the CUDA version of a function is called."""
    return f"{full}_cuda"


def cuda_header(used: dict[str, str]) -> str:
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


def cuda_kernel(
    full: str, params: Sequence[str], outputs: Sequence[Expr], dtype: str, tested: bool = False
) -> tuple[str, dict[str, str]]:
    """The kernel over arrays, and what it uses of libdevice; with tests, whose result is the last
    output.

    Raises
    ------
    UnsupportedError : if a function has no form on devices.
    """
    name = f"_{full}_cuda"
    return kernel_source(
        name, params, outputs, dtype, steps=True, fuse=tested, decorator="@_kernel"
    )


def cuda_wrapper(
    full: str, params: Sequence[str], count: int, summary: str, results: str, again: str = ""
) -> str:
    """The function that is called; `results` nests the flat list `r`; `again` is what computes
    flagged elements again, and which of its results are wanted."""
    kernel = f"_{full}_cuda"
    local = local_names(params, {kernel, "_evaluate_cuda", "_stack_cuda", "r", "stream"})
    call = ", ".join([kernel, str(count), "stream", *local, *([f"again={again}"] if again else [])])
    body = [docstring(f"{summary[:-1]}, on a CUDA device."), f"r = _evaluate_cuda({call})"]
    body.append(f"return {results}")
    head = f"def {cuda_name(full)}({', '.join([*local, '*', 'stream=0'])}):"
    return head + "\n" + indent("\n".join(body), "    ") + "\n"


def cuda_evaluate(dtype: str, tested: bool = False) -> str:
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
        flagged = np.flatnonzero(out.pop().copy_to_host(stream=stream))
        if flagged.size:  # by the tiers of the CPU
            flat = [a.copy_to_host(stream=stream) for a in given[::2]]
            flat = [np.broadcast_to(a, size) for a in flat]
            found = [o.copy_to_host(stream=stream) for o in out]
            _repair(*again, flat, found, flagged)
            for o, f in zip(out, found):
                o.copy_to_device(f, stream=stream)
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
