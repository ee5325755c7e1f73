"""`CudaProgram`: a program with arrays and loops, compiled for a device when first called."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from symdiff.codegen.cuda.conversions import NAME, print_conversion
from symdiff.codegen.cuda.loops.language import Cplusplus
from symdiff.codegen.cuda.loops.listing import written
from symdiff.codegen.cuda.loops.plan import plan
from symdiff.codegen.cuda.loops.steps import Kernel, Launch, Plan, Repeat, Step
from symdiff.codegen.cuda.printer import Again, print_tested
from symdiff.codegen.cuda.thread_loop import THREADS
from symdiff.codegen.llvm.loops.kernel import lowered, output_types
from symdiff.ir.loop_program import LoopProgram, Type
from symdiff.lowering.lower import lower
from symdiff.process.locks import Lock
from symdiff.runtime.cuda import nvrtc
from symdiff.runtime.cuda.device_arrays import Region
from symdiff.runtime.cuda.driver import Device
from symdiff.runtime.protocols import LoopFunction
from symdiff.runtime.scalar.elementwise import _coalesce

ALL = 2
"""All tests of `with_error_tests`: a device has no flags to read."""
Loaded = dict[str, tuple[Any, int]]
"""The kernels by their names, and how many blocks of each fit at once."""


class CudaProgram:
    """A program as kernels of a device.

    Parameters
    ----------
    program : in the form that is emitted; see `symdiff.pipeline.loops`.
    cache : whether compiled code is kept on disk.
    accuracy : as for `symdiff.runtime.loops.kernel.LoopKernel`.
    tiers : how flagged values are computed again, in double precision; None if none is flagged.
    """

    def __init__(
        self,
        program: LoopProgram,
        cache: bool = True,
        accuracy: str = "high",
        tiers: LoopFunction | None = None,
    ) -> None:
        self.program, self.cache, self.accuracy, self.tiers = program, cache, accuracy, tiers
        self.outputs: tuple[Type, ...] = output_types(program)
        self._planned: dict[tuple[str, bool], tuple[LoopProgram, Plan]] = {}
        self._loaded: dict[Any, Loaded] = {}
        self._lock = Lock()

    def plan(self, dtype: str, tested: bool = True) -> Plan:
        """The kernels and steps in a dtype; `tested` for flagged elements or not.

        Raises
        ------
        UnsupportedError : for what a device cannot do.
        """
        return self.planned(dtype, tested)[1]

    def planned(self, dtype: str, tested: bool = True) -> tuple[LoopProgram, Plan]:
        """What is planned, and its plan. Nothing is tested in single precision, in which
        there is no double-precision instruction."""
        key = dtype, tested and self.tiers is not None and dtype == "float64"
        with self._lock:
            if key not in self._planned:
                made, text = self._tested() if key[1] else (lowered(self.program, "fast"), "")
                self._planned[key] = made, plan(made, Cplusplus(dtype, text))
            return self._planned[key]

    def _tested(self) -> tuple[LoopProgram, str]:
        """The program with its tests, and the functions for flagged values."""
        assert self.tiers is not None
        found = self.tiers.double("float64", ALL)
        values = []
        for r in found.references:
            value = self.tiers.value(r)
            tier = value.double_double()
            (better,), test = tier.outputs, tier.test
            assert test is not None
            (plain,) = lower(value.outputs)
            values.append(Again(value.params, plain, better, test, value.has_double_double))
        text = print_tested(values)
        return lowered(found.program, self.accuracy, tested=bool(values)), text

    def text(self, dtype: str) -> str:
        """The CUDA C++ of the kernels without tests, after the steps that launch them."""
        found = self.plan(dtype, tested=False)
        lines = [f"{self.program.name}:", *written(found.steps)]
        return "".join(f"// {line}".rstrip() + "\n" for line in lines) + "\n" + found.text

    def ptx(self, dtype: str, cc: tuple[int, int]) -> str:
        """The PTX of the kernels."""
        return nvrtc.ptx(self.plan(dtype).text, cc, self.cache)

    def loaded(self, device: Device, dtype: str) -> Loaded:
        """The kernels on a device; its context must be current."""
        key = device.ordinal, dtype
        with self._lock:
            if key not in self._loaded:
                found = self.plan(dtype)
                code = nvrtc.machine_code(found.text, device.capability, self.cache)
                module = device.load(code.image)
                self._loaded[key] = {
                    k.name: _function(device, module, k.name) for k in kernels(found.steps)
                }
            return self._loaded[key]


def kernels(steps: tuple[Step, ...]) -> list[Kernel]:
    """All kernels of some steps."""
    found: list[Kernel] = []
    for step in steps:
        if isinstance(step, Launch):
            found += [step.kernel, *([step.final] if step.final is not None else [])]
            found += [step.rows[0]] if step.rows is not None else []
        elif isinstance(step, Repeat):
            found += kernels((*step.test, *step.body))
    return found


def _function(device: Device, module: Any, name: str) -> tuple[Any, int]:
    function = device.function(module, name)
    return function, device.resident(function, THREADS)


_CONVERSIONS: dict[Any, tuple[Any, int]] = {}
_LOCK = Lock()


def convert(device: Device, source: Region, target: Region, stream: int) -> None:
    """Copy elements, converting them, between arrays of one shape."""
    if not source.size:
        return
    dims, steps = _coalesce([source, target])  # type: ignore[list-item]
    dims, steps = (dims, steps) if dims else ([1], [[0, 0]])
    types = source.dtype.str[1:], target.dtype.str[1:]
    key = device.ordinal, *types, len(dims)
    with _LOCK:
        if key not in _CONVERSIONS:
            text = print_conversion(*types, len(dims))
            code = nvrtc.machine_code(text, device.capability)
            _CONVERSIONS[key] = _function(device, device.load(code.image), NAME)
    function, resident = _CONVERSIONS[key]
    size = math.prod(dims)
    tail = [size, *dims, *(row[0] for row in steps), *(row[1] for row in steps)]
    args = [ctypes.c_uint64(source.address), ctypes.c_uint64(target.address)]
    blocks = min(-(-size // THREADS), 8 * resident)
    device.launch(function, blocks, THREADS, [*args, *map(ctypes.c_int64, tail)], stream)


__all__ = ["CudaProgram", "convert", "kernels"]
