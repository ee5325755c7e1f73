"""From outputs to functions in memory: key, look up, else lower, print and compile.

A kernel is compiled in two pieces, each when it is first needed: `Point` for one
element, and `Body` for arrays.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from symdiff.codegen.llvm import array_loop as driver
from symdiff.codegen.llvm import ball_calls, jit, tiers
from symdiff.codegen.llvm import printer as llvm
from symdiff.codegen.llvm.entry import elementwise
from symdiff.codegen.llvm.entry.sizes import EVERY, Words
from symdiff.ir import FALSE, OPS, Expr, encode, topological
from symdiff.ir.functions import BUILTIN
from symdiff.lowering import latency, reciprocals
from symdiff.lowering.lower import lower
from symdiff.lowering.moving import moving
from symdiff.lowering.newton import corrected_by_newton
from symdiff.lowering.quotients import fused_quotients
from symdiff.lowering.target import ARRAY_CHAIN, MAX_CHAIN
from symdiff.process.locks import Lock
from symdiff.runtime import builtin, cache

ball_calls.install()
_ITEM = {"float64": 8, "float32": 4}
_DECLARED = re.compile(r"^declare [^@]*@([\w.]+)\(", re.MULTILINE)

_linked: WeakValueDictionary[str, jit.Linked] = WeakValueDictionary()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Spec:
    """What a kernel computes, and how.

    Attributes
    ----------
    params, outputs, test : of a function, in this tier.
    dtype : "float64" or "float32".
    accuracy : "high", "strict", "fast" or "certified".
    cache : whether object code is kept on disk.
    fuses : whether sums are rounded together with a product in them.
    arrays : whether it is for arrays.
    lean : whether the processor's flags are read as well.
    directed : whether it is also run with the processor rounding up, and down.
    """

    params: tuple[str, ...]
    outputs: tuple[Expr, ...]
    test: Expr | None
    dtype: str
    accuracy: str
    cache: bool
    fuses: bool = False
    arrays: bool = False
    lean: bool = False
    directed: bool = False

    @property
    def flagged(self) -> bool:
        """Whether a flag is computed along with the outputs; what is `sure` has none."""
        return self.test is not None and not self.sure

    @property
    def sure(self) -> bool:
        """Whether no element is flagged where the processor raised no flag."""
        return self.lean and self.arrays and self.test is FALSE

    @property
    def tier(self) -> str:
        """What it is called, for people."""
        return f"{self.dtype}, {'arrays' if self.arrays else 'numbers'}"

    def roots(self) -> tuple[Expr, ...]:
        return self.outputs if self.test is None else (*self.outputs, self.test)

    def lowered(self) -> tuple[Expr, ...]:
        """What is printed: the outputs, and the condition of the flag if there is one."""
        chain = ARRAY_CHAIN if self.arrays and self.fuses else MAX_CHAIN
        chain = {"strict": 4, "fast": 64}.get(self.accuracy, chain)
        divide = self.accuracy != "fast"
        single = self.dtype == "float32"
        roots = lower(
            fused_quotients(self.roots()),
            chain=chain,
            divide=divide,
            fuse=self.fuses,
            single=single,
        )
        plain = not self.arrays or self.accuracy == "strict"  # computed by the C library
        if plain and self.dtype == "float64" and self.accuracy != "fast":
            roots = corrected_by_newton(roots)
        roots = moving(roots) if self.directed else roots
        shares = self.arrays and self.fuses and self.accuracy == "high"
        return reciprocals.share(roots, len(self.outputs)) if shares else roots

    def key(self, kind: str, *more: object) -> str:
        """A name for the object code. What the text of the table and the printers
        says need not be lowered to be known; a user's own functions are."""
        roots = self.roots()
        own = any(e.op.expand is not None and e.op not in BUILTIN for e in topological(roots))
        rows = encode(self.lowered() if own else roots)
        watched = self.lean and not self.arrays
        how = (self.params, self.flagged, self.dtype, self.accuracy, self.fuses, self.arrays, self.directed)  # fmt: skip
        more = (*more, "watched") if watched else more
        return cache.key(kind, rows, how, jit.host(), *more)


def link(
    key: str, text: Callable[[], str], keep: bool, tidy: bool = False, opt: int = 2
) -> jit.Linked:
    """The code with this key: already in memory, from disk, or compiled from text."""
    with _lock:
        found = _linked.get(key)
        if found is not None:
            return found
        code, externals = object_code(key, text, keep, tidy, opt)
        linked = _linked[key] = jit.Linked(code, externals)
        return linked


def object_code(
    key: str, text: Callable[[], str], keep: bool, tidy: bool = False, opt: int = 2
) -> tuple[bytes, tuple[str, ...]]:
    """The machine code with this key and the C functions that it calls (see `jit.Linked`): from disk,
    or compiled from text."""
    stored = cache.load(key) if keep else None
    if stored is not None:
        return stored
    source = text()
    externals = tuple(sorted(set(map(_external, _DECLARED.findall(source)))))
    code = jit.compile_object(source, opt=opt, tidy=tidy)
    if keep:
        cache.store(key, code, externals)
    return code, externals


def _external(name: str) -> str:
    """The C function behind a declared name; an intrinsic may become a call of it."""
    if not name.startswith("llvm."):
        return name
    _, function, kind = name.split(".")[:3]
    return "?" + function + ("f" if kind.endswith("32") else "")


# ---------------------------------------------------------------------- one element
def point_text(spec: Spec) -> str:
    """The LLVM IR of a kernel for one element; see `codegen.llvm.printer.print_point`."""
    roots, outputs = spec.lowered(), len(spec.outputs)
    flagged = roots[outputs] if spec.flagged else None
    return llvm.print_point(spec.params, roots[:outputs], flagged, spec.dtype, spec.lean)


class Point:
    """A kernel for one element.

    Attributes
    ----------
    entry : a builtin that takes exact Python floats and returns a float, or a tuple
        of them; NotImplemented if the arguments are anything else, or if the
        element is flagged.
    """

    def __init__(self, spec: Spec) -> None:
        self.inputs, self.outputs = len(spec.params), len(spec.outputs)
        self.real = ctypes.c_float if spec.dtype == "float32" else ctypes.c_double

        def text() -> str:
            source = point_text(spec)
            if layout is not None:
                one = self.outputs == 1
                source += driver.print_entry(
                    self.inputs, self.outputs, spec.dtype, scalar=one, layout=layout
                )
            return source

        layout = builtin.float_layout()
        self.spec, self.key = spec, spec.key("point", layout)
        self.linked = link(self.key, text, spec.cache)
        self.point = ctypes.CFUNCTYPE(ctypes.c_int8, ctypes.c_void_p, ctypes.c_void_p)(
            self.linked.address("point")
        )
        self.entry, self.entry_of_floats = (self._entry(integers) for integers in (True, False))

    def _entry(self, integers: bool) -> Callable[..., Any]:
        if builtin.float_layout() is None:
            return self.general
        return builtin.scalar_builtin(self.linked, self.spec.dtype == "float64", integers)

    def evaluate(self, values: Sequence[float]) -> tuple[list[float], bool]:
        """The outputs, and whether the test of the element holds."""
        given = (self.real * max(1, self.inputs))(*values)
        results = (self.real * max(1, self.outputs))()
        flag = self.point(ctypes.addressof(given), ctypes.addressof(results))
        return list(results[: self.outputs]), bool(flag)

    def general(self, *args: Any) -> Any:
        """What `entry` does, where there is no builtin."""
        if len(args) != self.inputs or any(type(a) is not float for a in args):
            return NotImplemented
        values, flag = self.evaluate(args)
        if flag:
            return NotImplemented
        return values[0] if self.outputs == 1 else tuple(values)

    def attach(self, function: int, plan: int, alive: object) -> None:
        """Let a function compute the elements where the test of the element holds: addresses of it and of
        its last argument, and what must live as long as they are used."""
        with _lock:
            if self.linked.attached is None:  # code is shared, and may outlive this kernel
                self.linked.attached = alive
                for name, address in (("plan", plan), ("second", function)):
                    ctypes.c_void_p.from_address(self.linked.address(name)).value = address


# --------------------------------------------------------------------------- arrays
class Body:
    """A kernel for arrays: `width` elements at a time."""

    def __init__(self, spec: Spec) -> None:
        lanes = _lanes(spec)

        def text() -> str:
            roots = spec.lowered()
            outputs = roots[: len(spec.outputs)]
            flagged = roots[len(spec.outputs)] if spec.flagged else None
            shares = spec.accuracy in ("fast", "high")
            used = lanes.doubled if jit.host().bits == 512 and latency.waits(roots) else lanes
            writer = llvm.Writer(spec.dtype, used, shares)
            return llvm.print_body(spec.params, outputs, flagged, spec.dtype, used, writer)

        self.spec, self.key = spec, spec.key("body", lanes.isa, sorted(lanes.library))
        self.linked = link(self.key, text, spec.cache)
        self.address = self.linked.address("body")
        self.width = ctypes.c_int64.from_address(self.linked.address("width")).value
        self._driver = _driver(spec.cache)
        self.driver = self._driver.address("tiers")
        self.run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.driver)


class Entry:
    """A builtin that calls the bodies of a kernel on arrays, as far as they are attached.

    Parameters
    ----------
    dtype, keep : of the arrays; whether compiled code is kept on disk.
    more : fields of its record; see `codegen.llvm.entry.elementwise`.

    Attributes
    ----------
    call : the builtin; it always returns NotImplemented where there can be none.
    """

    def __init__(self, dtype: str, keep: bool, served: Words = EVERY, **more: int) -> None:
        driver, item = _driver(keep), _ITEM[dtype]
        record = dict.fromkeys(elementwise.RECORD, 0) | more
        record["served"] = ctypes.addressof(served)
        record |= {"width": jit.host().bits // 8 // item, "item": item}
        record["descr"] = id(np.dtype(dtype))
        self._record = (ctypes.c_int64 * len(record))(*record.values())
        self._alive: list[object] = [served]
        self.call: Callable[..., Any] = lambda *args: NotImplemented
        if builtin.arrays_are_known():
            builtin.fill_array_api(driver)
            self.call = builtin.array_builtin(driver, self._record, self._alive)

    def attach(self, which: str, body: Body) -> None:
        """Let it call a body: "lean", "tested" or "between"."""
        if not self.field(which):
            self._alive.append(body.linked)
            if which == "lean":
                self._put("sure", body.spec.sure)
            self._put(f"{which}_width", body.width)
            self._put(which, body.address)

    def attach_balls(self, body: int, plan: int, alive: object) -> None:
        """Let it call a body in ball arithmetic; what must live as long."""
        if not self.field("balls"):
            self._alive.append(alive)
            self._put("plan", plan)
            self._put("balls", body)

    def field(self, name: str) -> int:
        """What its record says."""
        return self._record[elementwise.RECORD.index(name)]

    def _put(self, name: str, value: int) -> None:
        self._record[elementwise.RECORD.index(name)] = value


def _lanes(spec: Spec) -> llvm.Lanes:
    """As it is said for a kernel."""
    lanes = registers(spec.dtype, spec.accuracy == "strict")
    return replace(lanes, directed=spec.directed)


def registers(dtype: str, plain: bool = False) -> llvm.Lanes:
    """The SIMD registers of this machine, and its functions of them unless `plain`."""
    host = jit.host()
    single = dtype == "float32"
    width = host.bits // 8 // _ITEM[dtype]
    permutes = host.bits == 512
    if not host.isa or plain:
        return llvm.Lanes(width, permutes=permutes)
    names = (
        llvm.variant_name(host.isa, width, op.libm + ("f" if single else ""), op.arity)
        for op in OPS.values()
        if op.vector and op.libm is not None
    )
    library = frozenset(n for n in names if jit.symbol(n) is not None)
    return llvm.Lanes(width, host.isa, library, permutes=permutes)


def _driver(keep: bool) -> jit.Linked:
    """The loop around bodies, and the builtin in front of it."""
    layout = builtin.float_layout()

    def text() -> str:
        call = "" if layout is None else elementwise.print_array_call(*layout)
        return driver.print_driver() + tiers.print_tiers(jit.has_flags()) + call

    return link(cache.key("driver", jit.host(), layout), text, keep)
