"""What is awaited, or entered by `async with`."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Coroutine, Generator, Generic, Optional, Type, TypeVar

Opened = TypeVar("Opened")


class Opening(Generic[Opened]):
    """Opens something: `x = await opening`, or `async with opening as x`, which closes it at the end."""

    def __init__(self, open: Callable[[], Coroutine[Any, Any, Opened]]) -> None:
        self._open = open
        self._opened: Any = None

    def __await__(self) -> Generator[Any, Any, Opened]:
        return self._open().__await__()

    async def __aenter__(self) -> Opened:
        self._opened = await self._open()
        opened: Opened = self._opened
        return opened

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if kind is not GeneratorExit:  # the loop is gone, and nothing can be awaited
            await self._opened.close()
