"""Kernels on CUDA devices: for which functions and calls, and with which tiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.errors import TargetError, UnsupportedError
from symdiff.frontend import Shapes
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import OptimizedProgram
from symdiff.pipeline.derivation import Source
from symdiff.pipeline.kernels.loops import of_numbers
from symdiff.pipeline.lowered.scalar import on_device
from symdiff.pipeline.options import Options

if TYPE_CHECKING:
    from symdiff.runtime.cuda.call import OnDevice
    from symdiff.runtime.cuda.loops.call import ArraysOnDevice


@dataclass(slots=True)
class CudaKernels:
    """The kernels of one callable, compiled when they are first called.

    Attributes
    ----------
    source, options : of the callable.
    """

    source: Source
    options: Options
    made: dict[Any, tuple[OptimizedProgram, OnDevice]] = field(default_factory=dict)
    arrays: dict[Any, tuple[LoopProgram, ArraysOnDevice]] = field(default_factory=dict)

    def stream(self, kwargs: dict[str, Any]) -> Any:
        """Take `stream=` out of the arguments of a call, if it does not name a parameter."""
        if self.options.target == "cpu" or "stream" in self.source.parameters.names:
            return None
        return kwargs.pop("stream", None)

    def located(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of a call, with those on a device located."""
        if self.options.target == "cpu":
            return values
        from symdiff.runtime.cuda import call as cudacall

        return cudacall.located(values)

    def placed(self, values: Sequence[Any], out: Any, stream: Any) -> tuple[Any, ...] | None:
        """The arguments with those on a device located; None if the CPU is to compute."""
        if self.options.target == "cpu":
            return None
        from symdiff.runtime.cuda import call as cudacall
        from symdiff.runtime.cuda import driver

        if self.options.target == "cuda":
            driver.library()
            return cudacall.located(values)
        if all(type(v) in (float, int, np.ndarray) for v in values) and stream is out is None:
            return None
        found = cudacall.located(values)
        there = stream is not None or cudacall.on_device((*found, out))
        return found if there else None

    def must_not_be_there(self, values: Sequence[Any]) -> None:
        """Say which argument lies on a device, if any does, when the CPU cannot read it; the
        entries of a product's vector follow the arguments."""
        from symdiff.runtime.scalar.elementwise import ArgumentError

        names = (*self.source.parameters.real, *(["of the vector"] * len(values)))
        for name, v in zip(names, values, strict=False):
            if hasattr(v, "__cuda_array_interface__"):
                raise ArgumentError(
                    f"argument {name} lies on a CUDA device, and the CPU is to compute",
                    hint='target="auto" computes where the arguments lie',
                ) from None

    def __call__(
        self, values: tuple[Any, ...], static: Mapping[str, Any], out: Any, stream: Any
    ) -> Any:
        """Compute on the device."""
        shapes = self.source.shapes(static, values)
        raw = self.source.raw(static, shapes)
        if (
            of_numbers(raw)
            and "jacobian" in dict(self.source.path)
            and any(np.shape(v) for v in values)
        ):
            raise UnsupportedError(
                f"the Jacobian of the elementwise function {raw.name} by arrays, on a CUDA device",
                hint='use .diff("x"), or .jacobian.map(...): the derivatives of each element',
            )
        if isinstance(raw, LoopProgram):
            found = self.loop_program(raw, static, shapes)
            mapped = [bool(np.shape(v)) for v in values]
            if found.of_numbers and any(mapped):
                return self.rows(raw, static, shapes, mapped).each(values, out, stream)
            return found.run(values, out, stream)
        return self.compiled(static, shapes)[1].run(values, out, stream)

    def map(
        self,
        raw: LoopProgram,
        values: Sequence[Any],
        mapped: Sequence[bool],
        static: Mapping[str, Any],
        shapes: Shapes,
    ) -> Any:
        """Results for each row of the mapped values, with a leading axis."""
        return self.rows(raw, static, shapes, mapped).run(values, by_rows=True)

    def map_elements(self, values: Sequence[Any], static: Mapping[str, Any], shapes: Shapes) -> Any:
        """Results of a function of numbers, whose leading axis stays in front of arrays of them."""
        return self.compiled(static, shapes)[1].run(values, by_rows=True)

    def rows(
        self, raw: LoopProgram, static: Mapping[str, Any], shapes: Shapes, mapped: Sequence[bool]
    ) -> ArraysOnDevice:
        """What computes a captured program for all rows of some arguments."""
        key = id(raw), tuple(mapped)
        if key not in self.arrays:
            program = self.source.rows(static, shapes, mapped)
            if program is None:
                raise UnsupportedError(
                    f"the results of {raw.name} have sizes that differ from row to row",
                    hint='target="cpu" computes them',
                )
            self.arrays[key] = raw, self._on_device(program)
        return self.arrays[key][1]

    def loop_program(
        self, raw: LoopProgram, static: Mapping[str, Any], shapes: Shapes | None = None
    ) -> ArraysOnDevice:
        """What computes a captured program with arrays or loops on the device."""
        key = id(raw), ()
        if key not in self.arrays:
            self.arrays[key] = raw, self._on_device(self.source.shown(static, shapes))
        return self.arrays[key][1]

    def _on_device(self, program: LoopProgram) -> ArraysOnDevice:
        """What computes a program whose completed operations are not written out."""
        from symdiff.pipeline.loops import final
        from symdiff.pipeline.lowered.loops import LoweredProgram
        from symdiff.runtime.cuda.loops.call import ArraysOnDevice
        from symdiff.runtime.cuda.loops.kernel import CudaProgram

        self._refuse_certified()
        accuracy, tiers = self.options.accuracy, None
        if accuracy != "fast":
            tiers = LoweredProgram(program, accuracy, reads_flags=False)
        made = CudaProgram(final(program), self.options.cache, accuracy, tiers)
        return ArraysOnDevice(made, self._dtype())

    def text(self, static: Mapping[str, Any]) -> str:
        """The CUDA C++ of a function with arrays or loops, and its steps."""
        found = self.loop_program(self.source.raw(static), static).program
        return found.text(self._dtype() or "float64")

    def ptx(self, static: Mapping[str, Any], cc: tuple[int, int], dtype: Any) -> str:
        """The PTX of the kernels, of functions of numbers for dense arrays."""
        name = np.dtype(dtype or self.options.dtype or np.float64).name
        if name not in ("float64", "float32"):
            raise TargetError(f"there are no kernels in {name}", hint="float64 or float32")
        raw = self.source.raw(static)
        if isinstance(raw, LoopProgram):
            return self.loop_program(raw, static).program.ptx(name, cc)
        return self.compiled(static)[1].kernel.ptx(name, cc)

    def compiled(
        self, static: Mapping[str, Any], shapes: Shapes | None = None
    ) -> tuple[OptimizedProgram, OnDevice]:
        key = id(self.source.scalar(static, shapes))
        if key not in self.made:
            from symdiff.pipeline.by_definition import without_special_points

            raw = self.source.scalar(static, shapes)
            optimized = self.source.optimized(static, shapes)
            self.made[key] = self._make(without_special_points(optimized, raw, self.source.path))
        return self.made[key]

    def _refuse_certified(self) -> None:
        if self.options.accuracy == "certified":
            raise TargetError(
                'accuracy="certified" is ball arithmetic, which needs the CPU',
                hint='use target="cpu", or accuracy="strict"',
            )

    def _dtype(self) -> str | None:
        return None if self.options.dtype is None else np.dtype(self.options.dtype).name

    def _make(self, optimized: OptimizedProgram) -> tuple[OptimizedProgram, OnDevice]:
        from symdiff.runtime.cuda.call import OnDevice
        from symdiff.runtime.cuda.kernel import CudaKernel

        options = self.options
        self._refuse_certified()
        function = on_device(optimized, options)
        kernel = CudaKernel(function, accuracy=options.accuracy, cache=options.cache)
        return optimized, OnDevice(kernel, optimized.tree, self._dtype())
