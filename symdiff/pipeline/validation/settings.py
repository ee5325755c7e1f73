"""How thoroughly translations are validated: `symdiff.options(validate=...)`."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Literal

Mode = Literal["full", "quick", "off"]

_NAMES: dict[object, Mode] = {
    True: "quick", False: "off", "full": "full", "quick": "quick", "off": "off",
    "1": "quick", "0": "off",
}  # fmt: skip
_state: dict[str, Mode | None] = {"validate": None}


def mode() -> Mode:
    """What `options` says, else the environment variable `SYMDIFF_VALIDATE`, else "quick"."""
    chosen = _state["validate"]
    if chosen is not None:
        return chosen
    return _NAMES.get(os.environ.get("SYMDIFF_VALIDATE", "quick"), "quick")


class options:  # noqa: N801
    """Settings of this process; as a context manager, until its end.

    Parameters
    ----------
    validate : how kernels are compared with the captured program before their first result
        is handed out. True or "quick": at points chosen to hurt, for at most a few
        milliseconds or about 15 % of compiling; "full": a hundred times as thoroughly, for
        tests; False or "off": not at all. The environment variable `SYMDIFF_VALIDATE` ("full",
        "quick", "off") is the default if this function is not called.

    Examples
    --------
    >>> import symdiff
    >>> with symdiff.options(validate="full"):
    ...     symdiff.symgrad(lambda x: (x**2 - 4) / (x - 2)).grad(2.0)
    1.0
    """

    def __init__(self, *, validate: bool | str) -> None:
        if validate not in _NAMES:
            raise ValueError(f'validate is {validate!r}: use True, False, "quick", "full" or "off"')
        self._before = _state["validate"]
        _state["validate"] = _NAMES[validate]

    def __enter__(self) -> options:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _state["validate"] = self._before
