"""The answers to the last questions, which calls with equal arguments ask again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")
MOST = 64
"""The most answers that are kept."""
LARGEST = 4096
"""The most bytes of an array that is part of a question."""


class Recent(dict[Hashable, Answer], Generic[Answer]):
    """Answers, by their questions; all are forgotten when there are too many."""

    def keep(self, question: Hashable | None, answer: Answer) -> Answer:
        """Keep the answer to a question, if there is one."""
        if question is not None:
            if len(self) >= MOST:
                self.clear()
            self[question] = answer
        return answer


def bits(values: Sequence[Any]) -> Hashable | None:
    """Numbers and arrays as a question: nan is nan, and a zero has a sign; None if they are too large."""
    import numpy as np

    arrays = [np.asarray(v) for v in values]
    if any(a.dtype == object or a.nbytes > LARGEST for a in arrays):
        return None
    return tuple((a.shape, a.dtype.str, a.tobytes()) for a in arrays)
