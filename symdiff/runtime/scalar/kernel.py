"""`Kernel`: outputs of real parameters as a function of Python floats and arrays."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.entry.elementwise import ANY_RANK
from symdiff.codegen.llvm.entry.sizes import EVERY, Words
from symdiff.codegen.llvm.printer import print_point
from symdiff.ir import POW, rational, topological
from symdiff.process.locks import Lock
from symdiff.runtime import threads
from symdiff.runtime.protocols import Function
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.compiled import Body, Entry, Point, Spec, point_text
from symdiff.runtime.scalar.elementwise import ArgumentError, Array

if TYPE_CHECKING:
    from symdiff.runtime.scalar.ball_elements import BallElements

_FLOAT64, _FLOAT32 = np.dtype("float64"), np.dtype("float32")
HELD = 20_000.0
"""Nanoseconds of work for which no other thread of Python need run."""
FEW = 1000
"""Elements from which the processor's flags are read instead of testing for overflow: for fewer
that saves half a microsecond at most, and what the tests send on is computed more accurately."""
COPIED = 4096
"""Elements up to which arguments are copied to what the builtin takes."""
ACCURACIES = ("high", "strict", "fast", "certified")


class Result(NamedTuple):
    """The outputs of a call, and which elements stay flagged.

    Attributes
    ----------
    values : one per output; floats, NumPy scalars or arrays.
    flagged : how many elements are flagged.
    flags : a uint8 array, 1 for flagged elements; None for scalars, or if there
        is none.
    """

    values: list[Any]
    flagged: int
    flags: Array | None


class Kernel:
    """Real outputs of real parameters, compiled when first called.

    Parameters
    ----------
    function : what is computed, in each tier.
    dtype : "float64" or "float32" to compute in that only; None follows the arguments.
    accuracy : "strict" calls scalar libm on arrays too; "fast" also multiplies by
        reciprocals of constants and multiplies large powers out.
    parallel : True, False, or "auto" to use threads where it pays.
    cache : whether compiled code is kept on disk.
    directed : whether it is also run with the processor rounding up, and down.

    On arrays the compensated tier, if the function has one, computes flagged elements again.
    """

    def __init__(
        self,
        function: Function,
        *,
        dtype: str | None = None,
        accuracy: str = "high",
        parallel: bool | str = "auto",
        cache: bool = True,
        directed: bool = False,
    ) -> None:
        if accuracy not in ACCURACIES:
            raise ArgumentError(f"accuracy is one of {', '.join(ACCURACIES)}, not {accuracy!r}")
        if not (isinstance(parallel, bool) or parallel == "auto"):
            raise ArgumentError(f'parallel is True, False or "auto", not {parallel!r}')
        forced = None if dtype is None else np.dtype(dtype).name
        if forced not in (None, "float64", "float32"):
            raise ArgumentError(f"dtype is float64 or float32, not {forced}")
        self.function = function
        self.name, self.params = function.name, function.params
        self.outputs = function.outputs
        self.dtype, self.accuracy, self.parallel, self.cache = forced, accuracy, parallel, cache
        self._directed = directed
        self._balls: tuple[int, int] | None = None
        self._tables: BallElements | None = None
        self._compensated: Body | None = None
        self._compensates = function.tested
        self._specs: dict[tuple[str, str], Spec] = {}
        self._lock = Lock()
        self._point: Point | None = None
        self._bodies: dict[tuple[str, str], Body] = {}
        self._entries: dict[tuple[str, int, int, int, bool, int], Entry] = {}
        self._cost: float | None = None

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(self.params)}), {len(self.outputs)} outputs>"

    def __reduce__(self) -> tuple[Any, ...]:
        made = functools.partial(
            Kernel, dtype=self.dtype, accuracy=self.accuracy, parallel=self.parallel, cache=self.cache,
            directed=self._directed,
        )  # fmt: skip
        return made, (self.function,)

    # ---------------------------------------------------------------- compiling
    def _spec(self, dtype: str, kind: str = "array") -> Spec:
        found = self._specs.get((dtype, kind))
        if found is None:
            found = self._specs[dtype, kind] = self._specified(dtype, kind)
        return found

    def _specified(self, dtype: str, kind: str) -> Spec:
        f, arrays = self.function, kind != "point"
        tier = f.double(dtype, kind if arrays or not self._leans else "watched")
        return Spec(
            f.params, tier.outputs, tier.test, dtype, self.accuracy, self.cache,
            fuses=f.tested, arrays=arrays, lean=tier.lean, directed=self._directed,
        )  # fmt: skip

    @property
    def flagged(self) -> bool:
        """Whether its code writes flags."""
        return self.function.flags

    @property
    def made(self) -> int:
        """How many pieces of code are compiled, of all tiers."""
        return len(self.code())

    def code(self) -> list[Point | Body]:
        """The pieces of code that are compiled, of all tiers."""
        found: list[Point | Body] = [] if self._point is None else [self._point]
        found += self._bodies.values()
        found += [] if self._compensated is None else [self._compensated]
        return found

    @property
    def point(self) -> Point:
        """The kernel for one element."""
        if self._point is None:
            with self._lock:
                if self._point is None:
                    self._point = Point(self._spec(self.dtype or "float64", "point"))
        return self._point

    def body(self, dtype: str, kind: str = "array") -> Body:
        """The kernel for arrays that computes in this dtype, with tests of this kind."""
        found = self._bodies.get((dtype, kind))
        if found is None:
            with self._lock:
                found = self._bodies.get((dtype, kind))
                if found is None:
                    found = self._bodies[dtype, kind] = Body(self._spec(dtype, kind))
        return found

    def bodies(self, dtype: str, size: int) -> elementwise.Bodies:
        """What computes arrays of so many elements."""
        lean = between = None
        if self._leans and size >= FEW:
            lean = functools.partial(self.body, dtype, "lean")
        if self._compensates and dtype == "float64":
            between = self._between
        balls = self._balls if dtype == "float64" else None
        return elementwise.Bodies(functools.partial(self.body, dtype), lean, between, balls)

    def attach(self, tables: BallElements) -> None:
        """Let compiled code compute what it flags in ball arithmetic, where there is little of it."""
        number, elements, plan = tables.climbing
        self._tables, self._balls = tables, (elements, plan)
        if self._point is not None:
            self._point.attach(number, plan, tables)
        self._attach()

    def _between(self) -> Body | None:
        """The kernel for arrays with the errors of all operations, if there is one."""
        if self._compensates and self._compensated is None:
            with self._lock:
                if self._compensates and self._compensated is None:
                    f, tier = self.function, self.function.compensated()
                    self._compensates = tier is not None
                    if tier is not None:
                        self._compensated = Body(Spec(
                            f.params, tier.outputs, tier.test, "float64", self.accuracy,
                            self.cache, fuses=True, arrays=True,
                        ))  # fmt: skip
        return self._compensated

    @property
    def fast(self) -> Callable[..., Any]:
        """A builtin that takes exact Python numbers and returns a float, or a tuple of
        them if there are several outputs. It returns NotImplemented if an argument is
        anything else, their number is wrong, or the element is flagged."""
        return self.point.entry

    @property
    def fast_floats(self) -> Callable[..., Any]:
        """As `fast`; it returns NotImplemented for integers too."""
        return self.point.entry_of_floats

    def fast_arrays(
        self, dtype: str = "float64", rank: int = ANY_RANK, which: int = 0, never: int = -1,
        floats: bool = False, served: Words = EVERY,
    ) -> Callable[..., Any]:  # fmt: skip
        """As `fast`, for contiguous arrays of this dtype and one shape, and exact Python
        floats among them. Arrays for all outputs may follow; it then returns None. It also
        returns NotImplemented for arrays so large that threads may pay, and where a body is not
        compiled yet: which one is needed depends on how many elements there are; and unless
        the arrays have this many dimensions and are the arguments whose bits are set in
        `which`, where the rank is given; and where they have `never` elements; and for integers if `floats`;
        and for sizes whose class is not in the words of the axes, `served` (`codegen.llvm.entry.sizes`)."""
        key = dtype, rank, which, never, floats, id(served)
        found = self._entries.get(key)
        if found is None:
            with self._lock:
                found = self._entries.get(key)
                if found is None:
                    found = self._entries[key] = self._entry(*key[:-1], served)
                    self._attach()
        return found.call

    def _entry(
        self, dtype: str, rank: int, which: int, never: int, floats: bool, served: Words
    ) -> Entry:
        if not self._leans:
            self.body(dtype)
        return Entry(
            dtype, self.cache, inputs=len(self.params), outputs=len(self.outputs),
            flagged=self.flagged, few=FEW if self._leans else self.small + 1,
            limit=self.small, long=int(HELD / self.cost), rank=rank, among=which,
            never=never, floats=int(floats), served=served,
        )  # fmt: skip

    def _attach(self) -> None:
        """Let the other tiers serve the builtins, once they are compiled."""
        entries = [(dtype, entry) for (dtype, *_), entry in list(self._entries.items())]
        for dtype, entry in entries:
            for name, kind in (("tested", "array"), ("lean", "lean")):
                if body := self._bodies.get((dtype, kind)):
                    entry.attach(name, body)
            if self._compensated is not None and dtype == "float64":
                entry.attach("between", self._compensated)
            if self._balls is not None and dtype == "float64":
                entry.attach_balls(*self._balls, self._tables)

    @property
    def small(self) -> int:
        """Elements up to which arrays go through the builtin: one thread computes them, and
        they stay in the caches."""
        stay = elementwise.STREAMED // (8 * max(1, len(self.outputs)))
        return min(stay, threads.most_alone(self.cost, self.parallel))

    @property
    def _leans(self) -> bool:
        """Whether arrays are computed without tests for what the processor tells."""
        return self.function.tested and jit.has_flags()

    @property
    def cost(self) -> float:
        """Estimated nanoseconds per element."""
        if self._cost is None:
            functions = operations = 0
            for e in topological(self.outputs):
                root_or_power = e.op is POW and rational(e.args[1]) is not None
                if e.op.libm and not e.op.intrinsic and not root_or_power:
                    functions += 1
                elif e.args:
                    operations += 1
            traffic = len(self.params) + len(self.outputs)
            lanes = max(1, jit.host().bits // 64)
            call = 10.0 if self.accuracy == "strict" else 8.0 / lanes
            self._cost = call * functions + 0.6 / lanes * operations + 0.4 * traffic
        return self._cost

    def llvm(self) -> str:
        """The LLVM IR of the kernel for one element, without its run-time tests."""
        dtype = self.dtype or "float64"
        outputs = self._spec(dtype, "point").lowered()[: len(self.outputs)]
        return print_point(self.params, outputs, None, dtype)

    def point_text(self) -> str:
        """The LLVM IR of the kernel for one element as it is compiled, with its tests."""
        return point_text(self._spec("float64", "point"))

    # ------------------------------------------------------------------ calling
    def __call__(self, args: Sequence[Any], out: Sequence[Array | None] | None = None) -> list[Any]:
        """The outputs as a flat list; see `evaluate`."""
        return self.evaluate(args, out).values

    def evaluate(self, args: Sequence[Any], out: Sequence[Array | None] | None = None) -> Result:
        """Call the kernel.

        Python numbers give Python floats. Otherwise arguments broadcast as for a
        NumPy ufunc; float32 and float16 stay what they are, integers become
        float64, and Python numbers take the arrays' dtype.

        Parameters
        ----------
        args : one value per parameter.
        out : an array or None for each output.

        Raises
        ------
        ArgumentError : for arguments that are not real numbers, or a wrong count.
        ShapeError : for shapes that do not broadcast, or do not fit `out`.
        """
        elementwise.check_counts(self.name, args, len(self.params), out, len(self.outputs))
        if (found := self._small_arrays(args, out)) is not None:
            return found
        values = [elementwise.prepare(n, a) for n, a in zip(self.params, args, strict=True)]
        given = out is not None and any(o is not None for o in out)
        if not given and all(isinstance(v, float) for v in values):
            numbers, flag = self._at(values)  # type: ignore[arg-type]
            return Result(list(numbers), int(flag), None)
        result = elementwise.result_dtype(values, self.dtype)
        compute = _FLOAT64 if result == np.float64 else _FLOAT32
        if result != np.float64:
            values = [_single(v) if isinstance(v, float) else v for v in values]
        shape = elementwise.broadcast(values)
        if not given and (found := self._copied(values, shape, result)) is not None:
            return found
        places: Sequence[Array | None] = out if out is not None else [None] * len(self.outputs)
        for place in places:
            if place is not None:
                elementwise.check_out(place, shape, result)
        if shape == () and not given and compute == np.float64:
            return self._numpy_scalar(values)
        bodies = self.bodies(compute.name, math.prod(shape))
        call = elementwise.Call(bodies, compute, result, self.cost, self.parallel)
        results, flags = call.run(values, shape, places, self.flagged)
        if self._entries:
            self._attach()
        flagged = 0 if flags is None else int(np.count_nonzero(flags.view(np.bool_)))
        single = compute == np.float32 and self.dtype is None and self.function.tested
        if flagged and single and flags is not None:
            flagged = self._again(values, results, flags)
        flags = flags if flagged else None
        if shape == ():
            results = [r if p is not None else r[()] for r, p in zip(results, places, strict=True)]
        return Result(results, flagged, flags)

    def _at(self, values: Sequence[float]) -> tuple[list[float], bool]:
        """One element."""
        single = self.dtype == "float32"
        if single:
            values = [_single(v) for v in values]
        numbers, flag = self.point.evaluate(values)
        return [_single(v) for v in numbers] if single else numbers, flag

    def _again(
        self, values: Sequence[float | Array], results: Sequence[Array], flags: Array
    ) -> int:
        """Compute the flagged elements of arrays of single precision again, in doubles; how many stay flagged."""
        where = np.nonzero(flags.view(np.bool_)) if flags.shape else ()
        picked = [
            _single(v)
            if isinstance(v, float)
            else np.broadcast_to(v, flags.shape)[where].astype(_FLOAT64)
            for v in values
        ]
        found = self.evaluate(picked)
        with np.errstate(over="ignore"):  # of what is still flagged
            for target, values_again in zip(results, found.values, strict=True):
                target[where] = values_again
        flags[where] = found.flagged if found.flags is None else found.flags
        return found.flagged

    def _small_arrays(
        self, args: Sequence[Any], out: Sequence[Array | None] | None
    ) -> Result | None:
        """The builtin for arrays, where it may apply."""
        first = next((a for a in args if type(a) is np.ndarray), None)
        if first is None:
            return None
        name = "float64" if first.dtype is _FLOAT64 else "float32"
        if first.dtype not in (_FLOAT64, _FLOAT32) or self.dtype not in (None, name):
            return None
        if first.size > self.small:
            return None
        got = self.fast_arrays(name)(*args, *(out or ()))
        if got is NotImplemented:
            return None
        if out is not None:
            return Result(list(out), 0, None)
        if not self.outputs:  # the builtin takes those for given
            return Result([], 0, None)
        return Result([got] if len(self.outputs) == 1 else list(got), 0, None)

    def _copied(
        self, values: Sequence[float | Array], shape: tuple[int, ...], result: np.dtype[Any]
    ) -> Result | None:
        """The builtin on copies of a few elements, where arguments broadcast, are strided or
        are of another dtype: that takes less time than to say how they lie. A single element
        only in single precision; doubles have a kernel for that."""
        if result is not _FLOAT64 and result is not _FLOAT32:
            return None
        if math.prod(shape) > min(COPIED, self.small) or (not shape and result is _FLOAT64):
            return None
        like = elementwise.leading(values, shape)
        if like is not None and not (like.ndim <= 1 or like.flags.c_contiguous):
            return None
        dense = [elementwise.dense(v, shape, result) for v in values]
        if not shape:
            dense[0] = np.full(1, dense[0], result)
        got = self.fast_arrays("float64" if result is _FLOAT64 else "float32")(*dense)
        if got is NotImplemented:
            return None
        found = [got] if len(self.outputs) == 1 else list(got)
        return Result(found if shape else [v[0] for v in found], 0, None)

    def _numpy_scalar(self, values: Sequence[float | Array]) -> Result:
        """NumPy scalars give what Python floats give, as NumPy scalars."""
        numbers, flag = self._at([float(v) for v in values])
        return Result([np.float64(v) for v in numbers], int(flag), None)


def _single(value: float) -> float:
    """A float rounded to float32, as Python numbers among float32 arrays are."""
    return ctypes.c_float(value).value
