"""Arrays of double-double numbers with error bounds in plain Python, of which modules contain
copies.

Before : a, an array of doubles.
After  : `_numbers(a)`, an array with one more axis of four: the parts of `wide_numbers`.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import numpy as np


def _numbers(a):
    """Doubles, exactly."""
    wide = np.empty((*a.shape, 4))
    rows, flat = wide.reshape((a.size, 4)), a.ravel()
    for k in range(a.size):
        _put(rows[k], _number(flat[k]))
    return wide


def _row(parts):
    """An element of an array."""
    return parts[0], parts[1], parts[2], parts[3]


def _put(parts, x):
    """Put a number into an element."""
    parts[0], parts[1], parts[2], parts[3] = x


def _wide_room(tape, needed):
    """The tape, longer if it must be."""
    if needed <= tape.shape[0]:
        return tape
    longer = np.empty((max(needed, 2 * tape.shape[0]), 4))
    longer[: tape.shape[0]] = tape
    return longer


def _certain(condition):
    """A condition on which hangs what is done next."""
    if condition == 0.5:
        raise ArithmeticError("rounding may have decided a condition")
    return condition == 1.0


def _certain_integer(x):
    """An integer that is not known if its decimals, or which one it is, are not."""
    if x[2] != 0.0 or x[3] != 0.0 or not abs(x[0]) < 9.0e15:
        raise ArithmeticError("rounding may have decided an integer")
    return int(x[0])


def _doubles(wide):
    """The nearest doubles, and which of them are known well enough."""
    count = wide.size // 4
    rows, found, sure = wide.reshape((count, 4)), np.empty(count), np.empty(count, np.bool_)
    for k in range(count):
        x = _row(rows[k])
        found[k], sure[k] = _double(x), _decided(x)
    return found.reshape(wide.shape[:-1]), sure.reshape(wide.shape[:-1])
