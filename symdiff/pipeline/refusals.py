"""Functions that are refused for arrays of any size: traced again with what a call says, as far as it is needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symdiff.errors import SizesDecideError, UnsupportedError
from symdiff.frontend import EACH, Shapes, SymArray
from symdiff.ir import Expr
from symdiff.pipeline.argument_shapes import says_shared, with_sizes

ELEMENTS = 2_500
"""Elements of arrays that are traced one by one where a function is refused for arrays of any size."""


@dataclass(slots=True)
class ByValue:
    """What is known of a function that is run by values; one for all its derivatives.

    Attributes
    ----------
    refusals : of the compiler, by the kinds of arguments.
    operations : of the last run; None before the first.
    """

    refusals: dict[Any, UnsupportedError] = field(default_factory=dict)
    operations: int | None = None


def integers_among(shapes: Shapes, values: Sequence[Any]) -> tuple[str, ...]:
    """The arguments that are integers or truth values."""
    numbers = (int, bool, np.int64)
    return tuple(n for n, v in zip(shapes, values, strict=False) if type(v) in numbers)


def all_known(
    shapes: Shapes, values: Sequence[Any], mapped: Sequence[bool], integers: Collection[str]
) -> Shapes | None:
    """Shapes with what a call says: the sizes of arrays, whose elements are traced one by one, and these integers.
    None if the program knows them already, and where they are too many, or not known themselves."""
    if any(mapped) or says_shared(shapes.items()):
        return None
    found, elements = {}, 0
    for (name, shape), v in zip(shapes.items(), values, strict=False):
        if isinstance(v, (SymArray, Expr)) or np.asarray(v).dtype.kind == "O":
            return None
        if not np.asarray(v).flags.c_contiguous:
            return None  # which views share its memory is another question then
        elements += np.size(v)
        if shape[0]:
            found[name] = with_sizes(shape, {EACH: 1, **dict(enumerate(np.shape(v)))})
        elif name in integers:  # True is not 1 here
            truth = isinstance(v, bool)
            found[name] = 0, "w", ((EACH, v if truth else int(v)), (EACH, truth))
        else:
            found[name] = shape
    return None if found == shapes or elements > ELEMENTS else found


def for_the_call(
    trace: Callable[[Shapes], None], shapes: Shapes, values: Sequence[Any], mapped: Sequence[bool],
    refused: UnsupportedError,
) -> Shapes:  # fmt: skip
    """Shapes with as much of what a call says as is needed: the sizes of arrays, and those integers without
    which it is refused; the others are numbers, with derivatives.

    Raises
    ------
    UnsupportedError : if it is refused with all of them, too; or as before, if there is no more to know.
    """
    last = refused

    def traced(integers: Collection[str]) -> Shapes | None:
        nonlocal last
        known = all_known(shapes, values, mapped, integers)
        if known is None:
            return None
        try:
            trace(known)
        except SizesDecideError:
            return None
        except UnsupportedError as error:
            last = error
            return None
        return known

    found = traced(())
    integers = list(integers_among(shapes, values))
    if found is None and integers:
        found = traced(integers)
        for name in tuple(integers) if found is not None else ():
            fewer = [n for n in integers if n != name]
            if (known := traced(fewer)) is not None:
                found, integers = known, fewer
    if found is not None:
        return found
    if last.location != refused.location:
        hint = "; ".join(filter(None, (last.hint, f"for arrays of any size, {refused.message}")))
        error = UnsupportedError(last.message, last.location, hint)
        refused = error.with_traceback(last.__traceback__)
    try:
        raise refused
    finally:  # it holds this frame
        del refused, last
