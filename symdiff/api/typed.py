"""What type checkers and editors know of a function's calls: its signature, and what it returns.

Functions of numbers are called with arrays, too, whose types are not those of the annotations. So a
call that is not as annotated is allowed, and returns what nothing is known of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, overload

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)
    R_co = TypeVar("R_co", covariant=True, default=Any)

    class Called(Generic[P, R_co]):
        """A function with parameters P and results R."""

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
        @overload
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    Q = ParamSpec("Q")
    S = TypeVar("S")
else:
    from typing import ParamSpec, TypeVar

    P, R_co = ParamSpec("P"), TypeVar("R_co", covariant=True)
    Q, S = ParamSpec("Q"), TypeVar("S")

    class _Nothing:
        """When running, no base."""

        def __getitem__(self, types: Any) -> _Nothing:
            return self

        def __mro_entries__(self, bases: Any) -> tuple[()]:
            return ()

    Called = _Nothing()


__all__ = ["Called", "P", "Q", "R_co", "S"]
