"""Methods of the blocking classes, made into coroutines with the same parameters.

An object here has in `_plan` one of the blocking class that does not make its calls but says which are to
be made (`Plan`); so what a call takes, and how it goes to C, is written once.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Coroutine, Type, TypeVar

from .._calls import Ask, Calling
from ._loop import run
from ._opening import Opening

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")
S = TypeVar("S")


class Plan(Calling):
    """Before a blocking class: its calls are not made, but given back as what is to be made."""

    def _call(self, start: str, *arguments: Any, options: Any, **named: Any) -> Any:
        return Ask(self._use(), start, arguments, options, **named)


def asked(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A call: C has a callback form of each that can last."""

    @functools.wraps(method)
    async def call(self: Any, /, *args: Any, **named: Any) -> Any:
        return await run(method(self._plan, *args, **named))  # type: ignore[arg-type]

    return call


def at_once(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """One that does not wait, so that it is no coroutine here either."""

    @functools.wraps(method)
    def call(self: Any, /, *args: Any, **named: Any) -> Any:
        return method(self._plan, *args, **named)

    return call


def begun(method: Callable[Concatenate[Any, P], Any], kind: Type[S]) -> Callable[Concatenate[Any, P], S]:
    """A stream: begun at once, read as the asynchronous iterator `kind`."""

    @functools.wraps(method)
    def call(self: Any, /, *args: Any, **named: Any) -> Any:
        return kind(method(self._plan, *args, **named))  # type: ignore[call-arg]

    return call


def like(
    method: Callable[Concatenate[Any, P], T],
) -> Callable[
    [Callable[..., Awaitable[T]]], Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
]:
    """A coroutine function with the parameters and the description of a blocking method."""

    def shaped(function: Callable[..., Awaitable[T]]) -> Any:
        return functools.wraps(method)(function)

    return shaped


def opening(
    method: Callable[Concatenate[Any, P], Any],
) -> Callable[[Callable[..., Coroutine[Any, Any, S]]], Callable[Concatenate[Any, P], Opening[S]]]:
    """The same, of which the result is to be closed: awaited, or entered by `async with`."""

    def shaped(function: Callable[..., Coroutine[Any, Any, S]]) -> Any:
        @functools.wraps(method)
        def call(self: Any, /, *args: Any, **named: Any) -> Any:
            return Opening(functools.partial(function, self, *args, **named))

        return call

    return shaped
