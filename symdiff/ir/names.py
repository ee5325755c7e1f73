"""Names of the values that a program defines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Iterator

_NUMBERS = re.compile(r"(_\d+)+$")
_ADJOINT = re.compile(r"_bar(_\d+)*(_dot(_\d+)*)*$")


def untaken(name: str, taken: Container[str]) -> str:
    """The name, followed by as many underscores as make it one that is not taken."""
    while name in taken:
        name += "_"
    return name


def is_adjoint(name: str) -> bool:
    """Whether a name is that of an adjoint or of its change: no traced value has such a name."""
    return _ADJOINT.search(name) is not None


class Names:
    """Gives new names for a program; `of_values`: to values, none of which is an adjoint."""

    def __init__(self, taken: Iterable[str] = (), of_values: bool = False) -> None:
        self._taken, self._of_values = set(taken), of_values
        self._next: dict[str, Iterator[int]] = {}

    def fresh(self, stem: str) -> str:
        """The stem itself, or the stem with a new number."""
        return self.copied(f"{stem}_value" if self._of_values and is_adjoint(stem) else stem)

    def copied(self, stem: str) -> str:
        """The same for a copy of a named value; the copy of an adjoint is an adjoint."""
        name = stem
        stem = _NUMBERS.sub("", stem)
        counter = self._next.setdefault(stem, itertools.count(1))
        while name in self._taken:
            name = f"{stem}_{next(counter)}"
        self._taken.add(name)
        return name
