"""Kernels on CUDA devices: of which functions, for which calls, with which tiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.derivation import Source, static_key
from symdiff.errors import TargetError
from symdiff.ir import Expr
from symdiff.options import Options
from symdiff.program import Emission

if TYPE_CHECKING:
    from symdiff.runtime.cudacall import OnDevice


@dataclass(slots=True)
class CudaKernels:
    """The kernels of one callable, compiled when they are first called.

    Attributes
    ----------
    source, options : of the callable.
    suspect : `(outputs, dtype, kind)` makes what sends an element to the second tier.
    widen : makes the second tier.
    complete : whether it has every function of the outputs.
    """

    source: Source
    options: Options
    suspect: Callable[[Sequence[Expr], str, str], Expr]
    widen: Callable[[Sequence[Expr]], tuple[tuple[Expr, ...], Expr]]
    complete: Callable[[Sequence[Expr]], bool]
    made: dict[Any, tuple[Emission, OnDevice]] = field(default_factory=dict)

    def stream(self, kwargs: dict[str, Any]) -> Any:
        """Take `stream=` out of the arguments of a call, if it does not name a parameter."""
        if self.options.target == "cpu" or "stream" in self.source.parameters.names:
            return None
        return kwargs.pop("stream", None)

    def located(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of a call, with those on a device located."""
        if self.options.target == "cpu":
            return values
        from symdiff.runtime import cudacall

        return cudacall.located(values)

    def placed(self, values: Sequence[Any], out: Any, stream: Any) -> tuple[Any, ...] | None:
        """The arguments with those on a device located; None if the CPU is to compute."""
        if self.options.target == "cpu":
            return None
        from symdiff.runtime import cudacall, cudadriver

        if self.options.target == "cuda":
            cudadriver.library()
            return cudacall.located(values)
        if all(type(v) in (float, int, np.ndarray) for v in values) and stream is out is None:
            return None
        found = cudacall.located(values)
        there = stream is not None or cudacall.on_device((*found, out))
        return found if there else None

    def __call__(
        self, values: tuple[Any, ...], static: Mapping[str, Any], out: Any, stream: Any
    ) -> Any:
        """Compute on the device."""
        return self.compiled(static)[1].run(values, out, stream)

    def ptx(self, static: Mapping[str, Any], cc: tuple[int, int], dtype: Any) -> str:
        """The PTX of the kernel for dense arrays."""
        name = np.dtype(dtype or self.options.dtype or np.float64).name
        if name not in ("float64", "float32"):
            raise TargetError(f"there are no kernels in {name}", hint="float64 or float32")
        return self.compiled(static)[1].kernel.ptx(name, cc)

    def compiled(self, static: Mapping[str, Any]) -> tuple[Emission, OnDevice]:
        key = static_key(static)
        if key not in self.made:
            self.made[key] = self._make(self.source.emission(static))
        return self.made[key]

    def _make(self, emission: Emission) -> tuple[Emission, OnDevice]:
        from symdiff.runtime.cuda import CudaKernel
        from symdiff.runtime.cudacall import OnDevice

        options = self.options
        if options.accuracy == "certified":
            raise TargetError(
                'accuracy="certified" is ball arithmetic, which needs the CPU',
                hint='use target="cpu", or accuracy="strict"',
            )
        kind = "point" if options.accuracy == "strict" else "array"
        kernel = CudaKernel(
            emission.params,
            emission.outputs,
            accuracy=options.accuracy,
            cache=options.cache,
            suspect=None if options.accuracy == "fast" else self._suspects(kind),
            widen=self.widen,
            complete=self.complete,
        )
        dtype = None if options.dtype is None else np.dtype(options.dtype).name
        return emission, OnDevice(kernel, emission.tree, dtype)

    def _suspects(self, kind: str) -> Callable[[Sequence[Expr], str], Expr]:
        return lambda outputs, dtype: self.suspect(outputs, dtype, kind)
