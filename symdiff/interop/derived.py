"""Derivatives of a function as functions of flat arguments, traced anew from a text of ours.

Other libraries differentiate a function of positional arguments by another one: the arguments, then
cotangents or tangents. `f.vjp((x, y), c)` is called otherwise, so a small function around it is traced.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.errors import SymdiffError
from symdiff.ir.program import Program

_numbers = itertools.count()


def results_of(f: SymbolicFunction, found: Any) -> list[Any]:
    """The results of a call, in a row.

    Raises
    ------
    SymdiffError : where they are nested or complex.
    """
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    must_be_real(f, "result", [v for v in results if not isinstance(v, (tuple, list, dict))])
    if any(isinstance(v, (tuple, list, dict)) for v in results):
        raise SymdiffError(
            f"the results of {f.__name__} are nested", hint="return a tuple of arrays"
        )
    return results


def must_be_real(f: SymbolicFunction, what: str, values: Iterable[Any]) -> None:
    """Refuse complex numbers and arrays, which other libraries would have to split.

    Raises
    ------
    SymdiffError : for them.
    """
    if any(map(np.iscomplexobj, values)):
        raise SymdiffError(
            f"a complex {what} of {f.__name__}", hint="pass and return z.real, z.imag"
        )


def is_elementwise(f: SymbolicFunction, arrays: Sequence[Any]) -> bool:
    """Whether results for such arrays are made element by element."""
    shapes = f._source.shapes({}, [v if v.shape else v.item() for v in arrays])
    return isinstance(f._source.raw({}, shapes), Program)


def pullback(
    f: SymbolicFunction, results: int, single: bool, by: Sequence[int] | None = None
) -> SymbolicFunction:
    """The function of the arguments, and a cotangent for each result, that returns the cotangents
    of the arguments that are real.

    Parameters
    ----------
    single : whether `f` returns one result and no tuple.
    by : the positions of the arguments whose cotangents are returned, by default of all that are real.
    """
    bars = [f"c{k}" for k in range(results)]
    return _around(f, "vjp", by, bars, bars[0] if single else f"({', '.join(bars)},)")


def pushforward(f: SymbolicFunction, by: Sequence[int] | None = None) -> SymbolicFunction:
    """The function of the arguments, and a tangent for each, that returns the tangents of the
    results.

    Parameters
    ----------
    by : the positions of the arguments that have tangents, by default of all.
    """
    dots = [f"t{k}" for k in (range(len(f._source.parameters.real)) if by is None else by)]
    return _around(f, "jvp", by, dots, f"({', '.join(dots)},)")


def _around(
    f: SymbolicFunction, kind: str, by: Sequence[int] | None, more: list[str], given: str
) -> SymbolicFunction:
    names = f._source.parameters.real
    primals = [f"p{k}" for k in range(len(names))]
    product = f"f.{kind}(({', '.join(primals)},), {given})[1]"
    chosen = f if by is None else symgrad(f, wrt=tuple(names[k] for k in by))
    return of_text(f"{f.__name__}_{kind}", ", ".join([*primals, *more]), product, chosen)


def of_text(name: str, params: str, result: str, f: SymbolicFunction) -> SymbolicFunction:
    """The function of these parameters with this result, in terms of `f` and NumPy's names."""
    name = name if name.isidentifier() else "function"
    text = f"def {name}({params}):\n    return {result}\n"
    file = f"<symdiff {name} {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"f": f, "ravel": np.ravel, "sum": np.sum}
    exec(compile(text, file, "exec"), scope)
    made: SymbolicFunction = symgrad(
        scope[name], accuracy=f._options.accuracy, cache=f._options.cache
    )
    return made
