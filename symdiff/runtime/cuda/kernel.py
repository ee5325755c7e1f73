"""`CudaKernel`: outputs of real parameters, computed on a CUDA device.

A kernel is compiled for each way in which operands can lie (`codegen.cuda.thread_loop.Layout`), when it
is first needed. Outputs are divided among several kernels where one would need more
registers than there are.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symdiff.codegen.cuda.printer import operations, print_device_function, print_kernels
from symdiff.codegen.cuda.thread_loop import THREADS, Entry, Layout, Operand, Part, Tier
from symdiff.ir import FALSE, var
from symdiff.process.locks import Lock
from symdiff.runtime.cuda import nvrtc
from symdiff.runtime.cuda.device_arrays import Region, dense, element_of
from symdiff.runtime.cuda.driver import Device
from symdiff.runtime.protocols import Function, Plain
from symdiff.runtime.scalar.compiled import Spec
from symdiff.runtime.scalar.elementwise import _coalesce

REGISTERS = 65536
"""Registers that the threads of a multiprocessor share."""
MAX_BLOCKS = 4
"""Blocks at once on a multiprocessor for which registers are spared: 1024 threads."""
WAVES = 8
"""A grid is at most so many times what the device holds at once."""
VECTOR_BYTES = 16
MAX_PLANS = 256
LONGEST = 256
"""Operations in a loop body for which neighbouring elements are taken together."""


@dataclass(frozen=True, slots=True)
class Group:
    """What one kernel computes.

    Attributes
    ----------
    part, members : which outputs, and how.
    blocks : of the kernel, as in `codegen.cuda.printer.Entry`.
    width : how many elements a thread takes at most.
    repair : whether a second kernel computes the elements that this one marks.
    """

    part: Part
    members: tuple[int, ...]
    blocks: int = 0
    width: int = 4
    repair: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel, and the one that repairs what it marks: each with how many blocks fit at
    once. `used` are the operands it takes, `tail` dimensions and strides."""

    kernel: tuple[Any, int]
    repair: tuple[Any, int] | None
    used: tuple[int, ...]
    tail: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is launched for operands that lie in some way."""

    size: int
    width: int
    launches: tuple[Launch, ...]


class CudaKernel:
    """Real outputs of real parameters, compiled for a device when first called.

    Parameters
    ----------
    function, accuracy, cache : as for `runtime.scalar.kernel.Kernel`.
    """

    def __init__(
        self,
        function: Function,
        *,
        accuracy: str = "high",
        cache: bool = True,
    ) -> None:
        self.function, self.params, self.outputs = function, function.params, function.outputs
        self.accuracy, self.cache = accuracy, cache
        self._groups: dict[Any, tuple[Group, ...]] = {}
        self._lock = Lock()
        self._plans: dict[Any, Plan] = {}
        self._loaded: dict[Any, dict[str, tuple[Any, int]]] = {}

    # ------------------------------------------------------------------- compiling
    def text(self, dtype: str, cc: tuple[int, int]) -> str:
        """The CUDA C++ of the kernels for dense operands of this dtype."""
        groups = self.groups(dtype, cc)
        width = self._width([p for g in groups for p in self._dense(g, dtype)], groups)
        layouts = [self._layout(g, dtype, width) for g in groups]
        entries = _entries(groups, layouts)
        if dtype == "float64":
            entries += self._repairing(groups, layouts)
        return print_kernels(self.params, entries, dtype)

    def ptx(self, dtype: str, cc: tuple[int, int]) -> str:
        """The PTX of the kernels for dense operands of this dtype."""
        return nvrtc.ptx(self.text(dtype, cc), cc, self.cache)

    def whole(self, name: str, real: str) -> str:
        """The CUDA C++ of one kernel for dense arrays of elements of type `real`, called `name`,
        that computes all outputs in double precision; flagged elements again in its threads."""
        part = replace(self._part(range(len(self.outputs)), "float64"), name=name)
        return print_kernels(self.params, [Entry(part, self._layout_of(part, real))], "float64")

    def device_function(self, name: str) -> str:
        """The CUDA C++ of a device function of one element."""
        part = self._part(range(len(self.outputs)), "float64")
        return print_device_function(name, self.params, part)

    def groups(self, dtype: str, cc: tuple[int, int]) -> tuple[Group, ...]:
        """The outputs, divided so that no kernel spills if that can be."""
        key = dtype, cc
        if key not in self._groups:
            with self._lock:
                whole = tuple(range(len(self.outputs)))
                self._groups[key] = tuple(self._divided(whole, dtype, cc))
        return self._groups[key]

    def _divided(self, members: tuple[int, ...], dtype: str, cc: tuple[int, int]) -> list[Group]:
        """Halves of the outputs as long as registers spill and that at most doubles the
        work. The second tier has its own kernel if it would crowd out the first."""
        part = self._part(members, dtype)
        alone, code = self._fitted(Group(replace(part, second=None), members), dtype, cc)
        if code.spills.get(part.name) and len(members) > 1:
            half = len(members) // 2
            split = [
                g for m in (members[:half], members[half:]) for g in self._divided(m, dtype, cc)
            ]
            if operations([g.part for g in split]) <= 2 * operations([part]):
                return split
        alone = replace(alone, repair=part.tested)
        if part.second is None or alone.blocks < MAX_BLOCKS:
            return [alone]
        both = replace(alone, part=part, repair=False)
        return [alone if self._measured(both, dtype, cc).spills.get(part.name) else both]

    def _fitted(self, group: Group, dtype: str, cc: tuple[int, int]) -> tuple[Group, nvrtc.Code]:
        """The group with as many elements for a thread as leave room for two blocks at
        once, and a bound of registers for one block more if nothing spills then."""
        name = group.part.name
        width = self._width(self._dense(group, dtype), [group])
        while True:
            group = replace(group, width=width)
            code = self._measured(group, dtype, cc)
            used = -(-code.registers.get(name, 255) // 8) * 8
            blocks = min(MAX_BLOCKS, REGISTERS // (THREADS * used))
            if blocks < MAX_BLOCKS and not code.spills.get(name):
                tighter = replace(group, blocks=blocks + 1)
                found = self._measured(tighter, dtype, cc)
                if not found.spills.get(name):
                    return tighter, found
            if blocks > 1 or width == 1:
                return replace(group, blocks=blocks if blocks > 1 else 0), code
            width //= 2

    def _part(self, members: Sequence[int], dtype: str) -> Part:
        function = self.function.part(members)
        kind = "point" if self.accuracy == "strict" else "array"
        tier = function.double(dtype, kind)
        spec = Spec(
            self.params, tier.outputs, tier.test, dtype, self.accuracy, self.cache,
            fuses=function.tested,
        )  # fmt: skip
        roots = spec.lowered()
        first = Tier(roots[: len(tier.outputs)], FALSE if tier.test is None else roots[-1])
        part = Part(f"symdiff_{members[0]}", first)
        if not part.tested or dtype == "float32" or not function.tested:
            return part
        second = function.double_double()
        assert second.test is not None
        return replace(
            part,
            second=Tier(second.outputs, second.test),
            complete=function.has_double_double,
        )

    def _measured(self, group: Group, dtype: str, cc: tuple[int, int]) -> nvrtc.Code:
        """What the kernel for dense operands uses."""
        width = self._width(self._dense(group, dtype), [group])
        entries = _entries([group], [self._layout(group, dtype, width)])
        text = print_kernels(self.params, entries, dtype)
        return nvrtc.machine_code(text, cc, self.cache)

    def _dense(self, group: Group, dtype: str) -> list[Region]:
        count = len(self.params) + len(group.members)
        return [dense(0, (0,), np.dtype(dtype))] * count

    def _layout(self, group: Group, dtype: str, width: int) -> Layout:
        return self._layout_of(group.part, dtype, width)

    def _layout_of(self, part: Part, dtype: str, width: int = 1) -> Layout:
        operand = Operand(np.dtype(dtype).str[1:])
        return Layout((operand,) * len(self.params), (operand,) * len(part.first.outputs), width)

    def _repairing(self, groups: Sequence[Group], layouts: Sequence[Layout]) -> list[Entry]:
        """The kernels for what others mark, in double precision."""
        return [
            Entry(self._part(g.members, "float64"), y, repair=True)
            for g, y in zip(groups, layouts, strict=True)
            if g.repair
        ]

    def _width(self, operands: Sequence[Region], groups: Sequence[Group]) -> int:
        """How many neighbouring elements a thread should take: 16 bytes, if that neither
        makes the body long nor misses the alignment."""
        largest = max((o.dtype.itemsize for o in operands), default=8)
        width = min(max(1, VECTOR_BYTES // largest), *(g.width for g in groups))
        longest = max(operations([g.part]) + 8 * len(g.members) for g in groups)
        while width > 1 and (
            width * longest > LONGEST
            or any(o.address % (width * o.dtype.itemsize) for o in operands)
        ):
            width //= 2
        return width

    # --------------------------------------------------------------------- launching
    def launch(
        self,
        device: Device,
        values: Sequence[float | Region],
        places: Sequence[Region],
        shape: tuple[int, ...],
        compute: str,
        stream: int,
    ) -> None:
        """Compute all elements of a shape into the places, one for each output.

        The device's context must be current. Inputs that a place overlaps are safe.
        """
        if 0 in shape:
            return
        operands = [v if isinstance(v, float) else v.broadcast_to(shape) for v in values]
        regions = [o for o in operands if isinstance(o, Region)]
        groups = self.groups(compute, device.capability)
        again = len(groups) > 1 or any(g.repair for g in groups)
        with contextlib.ExitStack() as stack:
            targets = []
            for place in places:
                target = place
                if any(place.clashes(o, again) for o in regions):
                    size = place.size * place.dtype.itemsize
                    address = stack.enter_context(scratch(device, size, stream))
                    target = dense(address, shape, place.dtype)
                targets.append(target)
            key = device.ordinal, compute, *(_kind(o) for o in (*operands, *targets))
            plan = self._plans.get(key)
            if plan is None:
                with self._lock:
                    plan = self._plan(device, operands, targets, shape, compute)
                    if len(self._plans) >= MAX_PLANS:
                        self._plans.clear()
                    self._plans[key] = plan
            self._start(device, plan, [*operands, *targets], compute, stream)
            for target, place in zip(targets, places, strict=True):
                if target is not place:
                    copy(device, target, place, stream)

    def _plan(
        self,
        device: Device,
        operands: Sequence[float | Region],
        targets: Sequence[Region],
        shape: tuple[int, ...],
        compute: str,
    ) -> Plan:
        """The kernels for operands that lie so, compiled."""
        groups = self.groups(compute, device.capability)
        regions = [*(o for o in operands if isinstance(o, Region)), *targets]
        dims, steps = _coalesce(regions)  # type: ignore[arg-type]
        flat = len(dims) <= 1 and all(
            step == r.dtype.itemsize for row in steps for step, r in zip(row, regions, strict=True)
        )
        width = self._width(regions, groups) if flat else 1
        how = "dense" if flat else "strided"

        def operand(o: float | Region) -> Operand:
            return Operand("f8", "value") if isinstance(o, float) else Operand(element_of(o), how)

        inputs = tuple(operand(o) for o in operands)
        outputs = [operand(t) for t in targets]
        rank = 0 if flat else max(1, len(dims))
        layouts = [
            Layout(inputs, tuple(outputs[k] for k in g.members), width, rank) for g in groups
        ]
        kernels = self._loaded_kernels(device, groups, layouts, compute)
        strides = {id(r): [row[k] for row in steps] for k, r in enumerate(regions)}
        launches = []
        for g in groups:
            used = (*range(len(operands)), *(len(operands) + m for m in g.members))
            here = [o for o in (*operands, *(targets[m] for m in g.members))
                    if isinstance(o, Region)]  # fmt: skip
            tail = [] if flat else [*dims, *(s for o in here for s in strides[id(o)])]
            name = g.part.name
            repair = kernels[f"{name}_repair"] if g.repair else None
            launches.append(Launch(kernels[name], repair, used, tuple(tail)))
        return Plan(math.prod(shape), width, tuple(launches))

    def _start(
        self,
        device: Device,
        plan: Plan,
        operands: Sequence[float | Region],
        compute: str,
        stream: int,
    ) -> None:
        for launch in plan.launches:
            end = [ctypes.c_int64(v) for v in (plan.size, *launch.tail)]
            given = [operands[k] for k in launch.used]
            args = _arguments(given, compute == "float32")
            if launch.repair is None:
                _run(device, launch.kernel, [*args, *end], plan, stream)
                continue
            with scratch(device, -(-plan.size // plan.width), stream) as mask:
                marks = ctypes.c_uint64(mask)
                _run(device, launch.kernel, [*args, marks, *end], plan, stream)
                args = _arguments(given, False)
                _run(device, launch.repair, [*args, marks, *end], plan, stream)

    def _loaded_kernels(
        self, device: Device, groups: Sequence[Group], layouts: Sequence[Layout], compute: str
    ) -> dict[str, tuple[Any, int]]:
        """The kernels by their names, and how many blocks of each fit at once."""
        key = device.ordinal, compute, tuple(layouts)
        if key not in self._loaded:
            units = [(compute, _entries(groups, layouts))]
            units.append(("float64", self._repairing(groups, layouts)))
            found: dict[str, tuple[Any, int]] = {}
            for dtype, entries in units:
                if entries:
                    text = print_kernels(self.params, entries, dtype)
                    code = nvrtc.machine_code(text, device.capability, self.cache)
                    module = device.load(code.image)
                    for entry in entries:
                        function = device.function(module, entry.name)
                        found[entry.name] = function, device.resident(function, THREADS)
            self._loaded[key] = found
        return self._loaded[key]


def _entries(groups: Sequence[Group], layouts: Sequence[Layout]) -> list[Entry]:
    return [Entry(g.part, y, g.blocks) for g, y in zip(groups, layouts, strict=True)]


def _kind(operand: float | Region) -> Any:
    """What of an operand a plan depends on."""
    if isinstance(operand, float):
        return None
    aligned = operand.address % (4 * VECTOR_BYTES)
    return aligned, operand.shape, operand.strides, operand.dtype


def _arguments(used: Sequence[float | Region], single: bool) -> list[Any]:
    number = ctypes.c_float if single else ctypes.c_double
    return [number(o) if isinstance(o, float) else ctypes.c_uint64(o.address) for o in used]


def _run(
    device: Device, kernel: tuple[Any, int], args: Sequence[Any], plan: Plan, stream: int
) -> None:
    function, resident = kernel
    blocks = max(1, min(-(-plan.size // (plan.width * THREADS)), WAVES * resident))
    device.launch(function, blocks, THREADS, args, stream)


@contextlib.contextmanager
def scratch(device: Device, size: int, stream: int) -> Iterator[int]:
    """Device memory for what is queued on a stream meanwhile."""
    address = device.reserve(size, stream)
    try:
        yield address
    finally:
        device.release(address, stream)


@functools.cache
def _identity() -> CudaKernel:
    return CudaKernel(Plain("identity", ("x",), (var("x"),)))


def copy(device: Device, source: Region, target: Region, stream: int) -> None:
    """Copy elements, converting them, between arrays of one shape."""
    compute = "float32" if target.dtype.itemsize < 8 else "float64"
    _identity().launch(device, [source], [target], target.shape, compute, stream)
