"""An object store of one's own: where snapshots live."""

from __future__ import annotations

import abc
import threading
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _ffi
from ._calls import Owned, registry
from ._ffi import lib
from ._parts import Part, answer, destroy, is_over

_PIECE = 256 * 1024
_MOST = 4 * 1024 * 1024


class ObjectContent:
    """The bytes of an object that is to be stored: read it, or iterate over its pieces. One thread at a time.

    What goes wrong with their making is raised, and must be the end of the put: nothing of it is kept.
    """

    def __init__(self, owned: Owned, done: _ffi.Done) -> None:
        self._owned = owned
        self._lock = threading.Lock()
        self._done: Optional[_ffi.Done] = done

    @property
    def over(self) -> bool:
        """True where nobody waits for the object any more: then it must not appear. After the put, too."""
        with self._lock:
            return self._done is None or is_over(self._done)

    def _answered(self) -> None:
        """What asks whether somebody waits is freed with the answer, and this may live on."""
        with self._lock:
            self._done = None

    def read(self, size: int = _PIECE) -> bytes:
        """At most `size` bytes; b"" = the end."""
        buffer = _ffi.room_for(size)
        given, argument = _ffi.size_out()
        lib["cove_content_read"](self._owned.raw, buffer, size, argument)
        data: bytes = buffer.raw[: given.value]
        return data

    def __iter__(self) -> Iterator[bytes]:
        while True:
            piece = self.read()
            if not piece:
                return
            yield piece


class ObjectPage(NamedTuple):
    """(key, size) by the bytes of the keys, and whether no more follow."""

    objects: Sequence[Tuple[str, int]]
    is_last: bool = True


class ObjectStore(abc.ABC):
    """Where the snapshots of a Cove live: `cove.Cove(state_dir, objects=MyObjects())`.

    Objects are never changed, and seen whole or not at all. How the methods are called, and what they
    raise, is as of MetadataStore. Keys are segments of [A-Za-z0-9._-] with "/" between.
    """

    #: How many methods may run at once, 1 to 64.
    threads: int = 4

    @abc.abstractmethod
    def put(self, key: str, content: ObjectContent) -> None:
        """Stores all of the content as a new object, durably; AlreadyExistsError: the key is taken."""

    @abc.abstractmethod
    def get(self, key: str) -> Iterable[bytes]:
        """The pieces of an object, read on while they are wanted; NotFoundError."""

    @abc.abstractmethod
    def stat(self, key: str) -> int:
        """The size of an object; NotFoundError."""

    @abc.abstractmethod
    def list(self, prefix: str, after: str, limit: int) -> ObjectPage:
        """The keys that begin with `prefix` and are greater than `after`, at most `limit`."""

    @abc.abstractmethod
    def remove(self, key: str) -> None:
        """Removes an object; success also where it is not there."""

    def close(self) -> None:
        """The Cove needs it no more."""


class _ObjectsPart(Part):
    def __init__(self, store: ObjectStore) -> None:
        super().__init__("object store", store.close)
        self.store = store


class _SourcePart(Part):
    """An object that is read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""
        super().__init__("object store", getattr(self._pieces, "close", lambda: None))

    def next(self) -> bytes:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._rest = bytes(piece)
        given, self._rest = self._rest[:_MOST], self._rest[_MOST:]
        return given


def make(store: ObjectStore) -> Any:
    """A pointer to the struct for C, which it keeps."""
    struct = _ffi.ObjectStore(
        flags=_ffi.PART_BLOCKING,
        threads=store.threads,
        destroy=destroy,
        put=_put_fn,
        get=_get_fn,
        stat=_stat_fn,
        list=_list_fn,
        remove=_remove_fn,
    )
    struct.self = registry.add(_ObjectsPart(store))
    return _ffi.kept_pointer(struct)


def _on_put(number: Optional[int], key: bytes, content: _ffi.Content, done: _ffi.Done) -> None:
    part: _ObjectsPart = registry.get(number)
    given = ObjectContent(Owned(content, "cove_content_free"), done)

    def give() -> None:
        try:
            part.store.put(key.decode(), given)
            lib["cove_done_ok"](done)
        finally:
            given._answered()

    answer(part, done, give)


def _on_get(number: Optional[int], key: bytes, done: _ffi.Done) -> None:
    part: _ObjectsPart = registry.get(number)

    def give() -> None:
        source = _ffi.ByteSource(next=_next_fn, destroy=destroy)
        source.self = registry.add(_SourcePart(part.store.get(key.decode())))
        lib["cove_done_source"](done, _ffi.pointer_to(source))

    answer(part, done, give)


def _on_next(number: Optional[int], done: _ffi.Done) -> None:
    source: _SourcePart = registry.get(number)

    def give() -> None:
        piece = source.next()
        lib["cove_done_bytes"](done, piece, len(piece))

    answer(source, done, give)


def _on_stat(number: Optional[int], key: bytes, done: _ffi.Done) -> None:
    part: _ObjectsPart = registry.get(number)
    answer(part, done, lambda: lib["cove_done_size"](done, part.store.stat(key.decode())))


def _on_list(number: Optional[int], prefix: bytes, after: bytes, limit: int, done: _ffi.Done) -> None:
    part: _ObjectsPart = registry.get(number)

    def give() -> None:
        page = part.store.list(prefix.decode(), after.decode(), limit)
        raw: List[Any] = [_ffi.Object(key=key.encode(), size=size) for key, size in page.objects]
        array = _ffi.array_of(_ffi.Object, raw)
        lib["cove_done_objects"](done, array, len(raw), 1 if page.is_last else 0)

    answer(part, done, give)


def _on_remove(number: Optional[int], key: bytes, done: _ffi.Done) -> None:
    part: _ObjectsPart = registry.get(number)

    def give() -> None:
        part.store.remove(key.decode())
        lib["cove_done_ok"](done)

    answer(part, done, give)


_put_fn = _ffi.PutObjectFn(_on_put)
_get_fn = _ffi.GetObjectFn(_on_get)
_next_fn = _ffi.NextPieceFn(_on_next)
_stat_fn = _ffi.StatObjectFn(_on_stat)
_list_fn = _ffi.ListObjectsFn(_on_list)
_remove_fn = _ffi.RemoveObjectFn(_on_remove)
