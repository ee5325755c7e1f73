"""Readable Numba-CUDA Python from the DAG, for generated modules and `.source("cuda")`.

Before : `x*y + z` and `sin(x)`.
After  : `libdevice.dmul_rn(x, y) + z` and `libdevice.sin(x)`.
Ensures: a product is rounded before it is added to anything, as on the CPU; left as `*`,
         the compiler would contract them. With float32, everything is in floats.

Numba's simulator knows nothing of NVIDIA's libdevice; under it, the text takes NumPy's
functions for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from symdiff.codegen.common.temporaries import ATOM, Text
from symdiff.codegen.source.python import PythonWriter, function_body, local_names, rename
from symdiff.errors import UnsupportedError
from symdiff.ir import ADD, MUL, NEG, SUB, Expr, Op, raw, topological
from symdiff.ir.plain import real_op
from symdiff.lowering.lower import lower
from symdiff.lowering.target import ARRAY_CHAIN, FMA

ROUNDED = Op("rounded_product", 2)
"""A product that is rounded before it is used."""

TAKEN = frozenset(("cuda", "libdevice", "config", "types", "i"))
"""Names that the text needs itself, in addition to those of the CPU's."""


class CudaWriter(PythonWriter):
    """Python that Numba compiles for CUDA; functions are those of libdevice."""

    def __init__(self, dtype: str = "float64") -> None:
        super().__init__(dtype)
        self.used: dict[str, str] = {}

    def device(self, name: str, simulated: str, args: Sequence[str]) -> Text:
        """A call of a function of libdevice, which is `simulated` by another."""
        name += "f" if self.single else ""
        self.used[name] = simulated
        return Text(f"libdevice.{name}({', '.join(args)})", ATOM)

    def function(self, op: Op, args: Sequence[str]) -> Text:
        if op is ROUNDED:
            name = "fmul_rn" if self.single else "dmul_rn"
            self.used[name] = "np.multiply"
            return Text(f"libdevice.{name}({', '.join(args)})", ATOM)
        if op is FMA:
            return self.device("fma", "_fused", args)
        if not op.arity:
            return super().function(op, args)
        if op.libm is None or op.edges is not None:
            raise UnsupportedError(f"{op.name} cannot be written for CUDA: it has no formula")
        return self.device(op.libm, _simulated(op), args)

    def sqrt(self, a: Text) -> Text:
        return self.device("sqrt", "np.sqrt", [a.text])

    def power(self, a: Text, b: Text) -> Text:
        return self.device("pow", "np.power", [a.text, b.text])


def _simulated(op: Op) -> str:
    """A Python function of the same name, NumPy's if there is one."""
    names = [n.replace("numpy.", "np.", 1) for n in op.names if n.startswith(("numpy.", "math."))]
    found = next((n for n in names if n.startswith("np.")), None)
    return found or next(iter(names), "None")


def rounded(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """Lowered outputs in which every product that a sum takes is rounded by itself."""
    order = topological(outputs)
    exposed: set[Expr] = set()
    for e in reversed(order):
        if real_op(e.op) in (ADD, SUB) or (e.op is NEG and e in exposed):
            exposed.update(e.args)
    new: dict[Expr, Expr] = {}
    for e in order:
        args = tuple(new[a] for a in e.args)
        op = ROUNDED if real_op(e.op) is MUL and e in exposed else e.op
        new[e] = e if args == e.args and op is e.op else raw(op, args, e.value)
    return tuple(new[o] for o in outputs)


def kernel_source(
    name: str,
    params: Sequence[str],
    outputs: Sequence[Expr],
    dtype: str = "float64",
    *,
    steps: bool = False,
    fuse: bool = False,
    decorator: str = "@cuda.jit",
) -> tuple[str, dict[str, str]]:
    """The source of a kernel over arrays, and what it uses of libdevice: by name, with the
    function that simulates it. With `fuse`, sums and products in them are rounded together where error
    tests expect it.

    With `steps`, each array is followed by the step from one element to the next, 0 where
    it holds one number for all.
    """
    out = [f"out{k}" for k in range(len(outputs))]
    local = local_names(params, {*TAKEN, *out, name})
    writer = CudaWriter(dtype)
    given = rename(params, local, outputs)
    single = dtype == "float32"
    tested = lower(given, fuse=True, chain=ARRAY_CHAIN, single=single) if fuse else lower(given)
    roots = rounded(tested)
    arrays = [f"{p.rstrip('_')}_array" for p in local]
    while set(arrays) & {*local, *out}:
        arrays = [f"{a}_" for a in arrays]
    taken, lines = [*local, *arrays, *out, *TAKEN], []
    for p, a in zip(local, arrays, strict=True):
        lines.append(f"{p} = np.{dtype}({a}[i*{p}_step])" if steps else f"{p} = {a}[i]")
    if steps:
        arrays = [name for p, a in zip(local, arrays, strict=True) for name in (a, f"{p}_step")]
        taken += arrays
    body, results = function_body(taken, roots, writer)
    lines += [*body, *(f"{o}[i] = {r}" for o, r in zip(out, results, strict=True))]
    text = (
        f"{decorator}\ndef {name}({', '.join([*arrays, *out])}):\n"
        f"    for i in range(cuda.grid(1), {out[0]}.size, cuda.gridsize(1)):\n"
    )
    return text + indent("\n".join(lines) + "\n", "        "), writer.used


FUSED = '''def _fused(a, b, c):
    """a*b + c, rounded once, as the simulator computes it."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    try:
        return type(a)(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))
    except OverflowError:
        return a * b + c
'''


def simulation(used: dict[str, str]) -> str:
    """What takes the place of libdevice under the simulator."""
    pairs = ", ".join(f"{name}={used[name]}" for name in sorted(used))
    return f'type("libdevice", (), dict({pairs}))'


def imports(used: dict[str, str]) -> str:
    """What stands before device functions."""
    if not used:
        return "from numba import cuda\n"
    return (
        "from numba import config, cuda\nfrom numba.cuda import libdevice\n\n"
        "if config.ENABLE_CUDASIM:  # the simulator has no libdevice\n"
        f"    libdevice = {simulation(used)}\n"
    )


def cuda_source(
    name: str, params: Sequence[str], outputs: Sequence[Expr], *, dtype: str = "float64"
) -> str:
    """The source of a kernel over arrays that Numba compiles for CUDA.

    The kernel takes the parameters' arrays and then one for each output, of one length,
    and is launched on any grid: `name[blocks, threads](x, out0)`.

    Examples
    --------
    >>> from symdiff.ir import var
    >>> print(cuda_source("f", ["x"], [var("x") ** 2 + 1]).partition("@")[2])
    cuda.jit
    def f(x_array, out0):
        for i in range(cuda.grid(1), out0.size, cuda.gridsize(1)):
            x = x_array[i]
            out0[i] = libdevice.dmul_rn(x, x) + 1.0
    <BLANKLINE>
    """
    text, used = kernel_source(name, params, outputs, dtype)
    return f"import math\n\nimport numpy as np\n{imports(used)}\n\n{text}"
