"""What type checkers and editors know of a function's calls: its signature, and what it returns.

Functions of numbers are called with arrays, too, whose types are not those of the annotations. So a call
that is not as annotated is allowed if one of the first arguments, or a named one, is an array or a container
of them; of what it returns nothing is known. All other calls have the types of the annotations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, overload

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)
    R_co = TypeVar("R_co", covariant=True, default=Any)

    class HasArray(Protocol):
        """What NumPy takes for an array."""

        def __array__(self) -> Any: ...

    Arrays = HasArray | list[Any] | tuple[Any, ...] | dict[Any, Any]

    class Called(Generic[P, R_co]):
        """A function with parameters P and results R."""

        @overload
        def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
        @overload
        def __call__(self, a: Arrays, /, *args: Any, **kwargs: Any) -> Any: ...
        @overload
        def __call__(self, a: Any, b: Arrays, /, *args: Any, **kwargs: Any) -> Any: ...
        @overload
        def __call__(self, a: Any, b: Any, c: Arrays, /, *args: Any, **kwargs: Any) -> Any: ...
        @overload
        def __call__(self, a: Any, b: Any, c: Any, d: Any, /, *args: Any, **kwargs: Any) -> Any: ...
        @overload
        def __call__(self, /, **kwargs: Any) -> Any: ...
        @overload
        def __call__(self, a: float, /, **kwargs: Any) -> Any: ...
        @overload
        def __call__(self, a: float, b: float, /, **kwargs: Any) -> Any: ...
        def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

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
