"""Paths of functions that are run by values: one that recurs is compiled.

A run is written as straight lines of Python (`symdiff.frontend.by_value.path_source`). From then on a call replays
the lines with their guards in plain Python. Where these hold and the value is that of the function, derivatives are
those of the compiled lines; else the function is run by values again.
"""

from __future__ import annotations

import hashlib
import linecache
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symdiff.errors import SymdiffError
from symdiff.frontend import pytrees

OPERATIONS = 4_000
"""Of a path that is compiled: the compiler takes some milliseconds for each ten."""
WORTH = 10
"""A path of so many operations is compiled after one run more."""
MOST = 16
"""Paths of a function that are compiled, for each way of calling it."""
TRIED = 200
"""Runs of which no path recurred, after which none is written as source any more."""
TOLERANCE = 1e-6
"""Between derivatives of the run and of the compiled path, when it is compiled."""


_compiler: list[Callable[..., Any]] = []


def compile_by(symgrad: Callable[..., Any]) -> None:
    """Compile paths by `symgrad`, whose module imports this."""
    _compiler[:] = [symgrad]


@dataclass(slots=True)
class Path:
    """A compiled path.

    Attributes
    ----------
    replayed : the result in a tuple; None where the call takes another path.
    function : the compiled function.
    """

    replayed: Callable[..., Any]
    function: Any


@dataclass(slots=True)
class Paths:
    """The paths of one way of calling a function.

    Attributes
    ----------
    met : how often each source was met.
    kept : those that are compiled.
    tried : runs that were written as source.
    """

    met: dict[bytes, int] = field(default_factory=dict)
    kept: list[Path] = field(default_factory=list)
    tried: int = 0

    def wanted(self, operations: int) -> bool:
        """Whether a run of so many operations is written as source."""
        new = self.tried < TRIED or self.kept
        return bool(new) and len(self.kept) < MOST and operations <= OPERATIONS

    def meet(self, source: Any, operations: int) -> bool:
        """Note a source; returns whether it is worth compiling."""
        self.tried += 1
        key = hashlib.blake2b(source.replayed.encode(), digest_size=16).digest()
        self.met[key] = self.met.get(key, 0) + 1
        return self.met[key] == 2 + operations // WORTH

    def served(
        self, value: Any, args: Sequence[Any], steps: Sequence[tuple[str, tuple[str, ...]]]
    ) -> Any:  # fmt: skip
        """The derivative of the path of a call, whose value is known; NotImplemented if it has none."""
        from symdiff.frontend.by_value import outputs

        for path in list(self.kept):
            try:
                with np.errstate(all="ignore"):
                    found = path.replayed(*args)
            except Exception:  # on its own path the function raises none
                continue
            if found is None:
                continue
            if not outputs.agree(found[0], value):
                self.kept.remove(path)  # what the function reads beside its arguments has changed
                continue
            try:
                result = derivative(path.function, steps)(*args)
            except SymdiffError:
                self.kept.remove(path)
                continue
            return result if outputs.finite(result) else NotImplemented
        return NotImplemented

    def keep(
        self, source: Any, args: Sequence[Any], steps: Sequence[tuple[str, tuple[str, ...]]], want: Any,
    ) -> None:  # fmt: skip
        """Compile a path, if its derivative at these arguments is that of the run."""
        path = Path(
            _made(source.replayed, "replayed"),
            _compiler[0](_made(source.path, "path"), by_value=False),
        )
        try:
            with np.errstate(all="ignore"):
                same = path.replayed(*args) is not None
            same = same and close(derivative(path.function, steps)(*args), want)
        except Exception:  # the compiler refuses it
            return
        if same:
            self.kept.insert(0, path)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a derivative.

    Attributes
    ----------
    key : all but the numbers that have derivatives.
    args : those arguments that hold these.
    places : of these among all parameters.
    steps : the path of the derivative, by these.
    paths : those known.
    """

    key: Any
    args: tuple[Any, ...]
    places: tuple[int, ...]
    steps: tuple[tuple[str, tuple[str, ...]], ...]
    paths: Paths

    def met(self, arguments: Any, run: Any, derivative: Any) -> None:
        """Note a run; its path is compiled if it recurs."""
        from symdiff.frontend.by_value.path_source import NoSource, path_source

        if not self.paths.wanted(run.operations):
            return
        names = [arguments.names[k] for k in self.places]
        at = [i for n in names for i in arguments.places(n)]
        try:
            source = path_source(
                names, [arguments.nodes[k] for k in self.places], [arguments.leaves[i] for i in at],
                [arguments.scalars[i] for i in at], run.result, run.guards,
            )  # fmt: skip
        except NoSource:
            return
        if self.paths.meet(source, run.operations):
            self.paths.keep(source, self.args, self.steps, derivative)


def call_of(
    names: Sequence[str], nodes: Sequence[pytrees.Node], leaves: Sequence[Any], static: Mapping[str, Any],
    steps: Sequence[tuple[str, tuple[str, ...]]],
) -> Call | None:  # fmt: skip
    """A call by its arguments; None if no paths are kept of such."""
    from symdiff.frontend.by_value.trace import is_real

    parts, args, places = iter(leaves), [], []
    for k, node in enumerate(nodes):
        own = [next(parts) for _ in range(pytrees.count(node))]
        real = [is_real(v) for v in own]
        if any(real) and not all(real):
            return None
        if any(real):
            args.append(pytrees.unflatten(node, iter(own)))
            places.append(k)
    of_reals = [names[k] for k in places]
    by = tuple((kind, tuple(n for n in wanted if n in of_reals)) for kind, wanted in steps)
    numbers = (np.ndarray, np.generic, float, int)
    if not all(wanted for _, wanted in by) or not all(isinstance(v, numbers) for v in leaves):
        return None
    key = tuple(nodes), tuple(map(_kind, leaves)), tuple(static.items())
    try:
        hash(key)
    except TypeError:
        return None
    return Call(key, tuple(args), tuple(places), by, Paths())


def _kind(leaf: Any) -> Any:
    """A leaf but for its doubles."""
    if isinstance(leaf, np.ndarray):
        fixed = b"" if leaf.dtype.kind == "f" else leaf.tobytes()
        return leaf.shape, leaf.dtype.char, fixed
    return type(leaf) if isinstance(leaf, (float, np.floating)) else (type(leaf), leaf)


def derivative(function: Any, steps: Sequence[tuple[str, tuple[str, ...]]]) -> Any:
    """A derivative of a compiled path."""
    for step in steps:
        function = function._derive(step[0], step)
    return function


def _made(source: str, name: str) -> Any:
    """The function of a source, which `inspect` finds."""
    file = f"<path {hashlib.blake2b(source.encode(), digest_size=8).hexdigest()}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope: dict[str, Any] = {"math": math, "np": np, "isfinite": math.isfinite}
    if "scipy." in source:
        import scipy.special

        scope["scipy"] = scipy
    exec(compile(source, file, "exec"), scope)
    return scope[name]


def close(found: Any, want: Any) -> bool:
    """Whether two derivatives agree in kind and within rounding."""
    from symdiff.frontend.by_value import outputs

    if not outputs.alike(found, want):
        return False
    pairs = zip(outputs.leaves(found), outputs.leaves(want), strict=True)
    return all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * _size(b))
        for a, b in pairs
    )


def _size(a: Any) -> float:
    return float(np.max(np.abs(a), initial=0.0))
