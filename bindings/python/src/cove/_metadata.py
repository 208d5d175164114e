"""A metadata store of one's own: where records live."""

from __future__ import annotations

import abc
import time
from dataclasses import dataclass, replace
from typing import Any, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import _ffi
from ._calls import registry
from ._ffi import lib
from ._parts import Part, answer, destroy

_KINDS = ("", "deployment", "sandbox", "source", "lease", "quota", "tombstone")
_ORDERS = ("name", "active", "heartbeat")


@dataclass(frozen=True)
class Document:
    """A document: text, and the few values that it is found by. (kind, name) is its id."""

    kind: str
    name: bytes
    body: bytes
    #: Only grows, and is never used again, not even after a removal.
    version: int = 0
    #: "" = none, which no filter matches; also of the next two.
    state: str = ""
    source: str = ""
    node: str = ""
    #: Milliseconds since 1970 by the store's time.
    active_at_ms: Optional[int] = None
    heartbeat_ms: Optional[int] = None

    def with_version(self, version: int) -> Document:
        """The same document, of another version."""
        return replace(self, version=version)


class DocumentPage(NamedTuple):
    """Documents in a query's order, and whether no more follow them."""

    documents: Sequence[Document]
    is_last: bool = True


Place = Tuple[int, bytes]


@dataclass(frozen=True)
class DocumentQuery:
    """Which documents are wanted. A filter that is None lets all pass."""

    kind: str
    #: "name"; "active" and "heartbeat" go by that time, then by name, without documents that have none.
    order: str
    #: Documents at most.
    limit: int
    state: Optional[str] = None
    source: Optional[str] = None
    node: Optional[str] = None
    active_before_ms: Optional[int] = None
    heartbeat_before_ms: Optional[int] = None
    #: Only documents behind this (time, name); the time is 0 where it goes by name.
    after: Optional[Place] = None

    def place(self, document: Document) -> Optional[Place]:
        """Where a document stands in the order; None where it has no place."""
        if self.order == "name":
            return 0, document.name
        time_ms = document.active_at_ms if self.order == "active" else document.heartbeat_ms
        return None if time_ms is None else (time_ms, document.name)

    def matches(self, document: Document) -> bool:
        """Whether the kind and every filter hold; limit and place do not count."""
        return (
            document.kind == self.kind
            and _holds(self.state, document.state)
            and _holds(self.source, document.source)
            and _holds(self.node, document.node)
            and _is_before(self.active_before_ms, document.active_at_ms)
            and _is_before(self.heartbeat_before_ms, document.heartbeat_ms)
        )

    def select(self, documents: Iterable[Document]) -> DocumentPage:
        """The answer, of all documents that there are: for stores that hold them in memory."""
        found = []
        for document in documents:
            place = self.place(document)
            if place is not None and self.matches(document) and (self.after is None or place > self.after):
                found.append((place, document))
        found.sort(key=lambda entry: entry[0])
        return DocumentPage([document for _, document in found[: self.limit]], len(found) <= self.limit)


def _holds(wanted: Optional[str], value: str) -> bool:
    return wanted is None or (value != "" and value == wanted)


def _is_before(before: Optional[int], value: Optional[int]) -> bool:
    return before is None or (value is not None and value < before)


class MetadataStore(abc.ABC):
    """Where the records of a Cove live: `cove.Cove(state_dir, metadata=MyStore())`.

    The methods are called on threads of Cove's, `threads` at once, and may take their time; they must
    not call the Cove whose part they are. What they raise is the error of whoever asked: a CoveError
    as it is, anything else as InternalError. One document changes as a whole, in an order that all see
    alike; what was answered is seen by every later call of anybody. `durable` = it lasts over a crash
    of the machine when the method returns.
    """

    #: How many methods may run at once, 1 to 64.
    threads: int = 4

    @abc.abstractmethod
    def insert(self, document: Document, durable: bool) -> int:
        """Adds a document that is not there and says its version; AlreadyExistsError: it is there."""

    @abc.abstractmethod
    def find(self, kind: str, name: bytes) -> Optional[Document]:
        """Reads a document; None where it is absent."""

    @abc.abstractmethod
    def compare_and_swap(self, document: Document, expected: int, durable: bool) -> int:
        """Replaces a document if its version is `expected`, and says the new, greater one; else ConflictError."""

    @abc.abstractmethod
    def remove(self, kind: str, name: bytes, expected: int) -> None:
        """Removes a document, durably, if its version is `expected`; else ConflictError."""

    @abc.abstractmethod
    def query(self, query: DocumentQuery) -> DocumentPage:
        """Reads documents; see DocumentQuery.select."""

    def now_ms(self) -> int:
        """The store's time in milliseconds since 1970, the same for all who use it; by default the machine's."""
        return time.time_ns() // 1_000_000

    def close(self) -> None:
        """The Cove needs it no more."""


class _MetadataPart(Part):
    def __init__(self, store: MetadataStore) -> None:
        super().__init__("metadata store", store.close)
        self.store = store


def make(store: MetadataStore) -> Any:
    """A pointer to the struct for C, which it keeps."""
    struct = _ffi.MetadataStore(
        flags=_ffi.PART_BLOCKING,
        threads=store.threads,
        destroy=destroy,
        insert=_insert_fn,
        find=_find_fn,
        compare_and_swap=_swap_fn,
        remove=_remove_fn,
        query=_query_fn,
        now=_now_fn,
    )
    struct.self = registry.add(_MetadataPart(store))
    return _ffi.kept_pointer(struct)


def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "surrogateescape")


def _optional(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else _text(value)


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


def _read(raw: Any) -> Document:
    """A copy of a document that C lends."""
    given: _ffi.Document = raw.contents
    return Document(
        kind=_KINDS[given.kind],
        name=given.name,
        body=_ffi.field_bytes(given, "body", given.body_size),
        version=given.version,
        state=_text(given.state),
        source=_text(given.source),
        node=_text(given.node),
        active_at_ms=given.active_at_ms if given.times & _ffi.TIME_ACTIVE else None,
        heartbeat_ms=given.heartbeat_ms if given.times & _ffi.TIME_HEARTBEAT else None,
    )


def _raw(document: Document) -> _ffi.Document:
    if not isinstance(document, Document):
        raise TypeError(f"a document must be a cove.Document, not {type(document).__name__}")
    times = 0 if document.active_at_ms is None else _ffi.TIME_ACTIVE
    times |= 0 if document.heartbeat_ms is None else _ffi.TIME_HEARTBEAT
    return _ffi.Document(
        kind=_KINDS.index(document.kind),
        name=document.name,
        version=document.version,
        body=document.body,
        body_size=len(document.body),
        state=_bytes(document.state),
        source=_bytes(document.source),
        node=_bytes(document.node),
        active_at_ms=document.active_at_ms or 0,
        heartbeat_ms=document.heartbeat_ms or 0,
        times=times,
    )


def _read_query(raw: Any) -> DocumentQuery:
    given: _ffi.DocumentQuery = raw.contents
    after = None
    if given.after_name is not None:
        after = (given.after_ms if given.order != _ffi.ORDER_NAME else 0, given.after_name)
    return DocumentQuery(
        kind=_KINDS[given.kind],
        order=_ORDERS[given.order],
        limit=given.limit,
        state=_optional(given.state),
        source=_optional(given.source),
        node=_optional(given.node),
        active_before_ms=given.active_before_ms if given.times & _ffi.TIME_ACTIVE else None,
        heartbeat_before_ms=given.heartbeat_before_ms if given.times & _ffi.TIME_HEARTBEAT else None,
        after=after,
    )


def _on_insert(number: Optional[int], document: Any, durability: int, done: _ffi.Done) -> None:
    part: _MetadataPart = registry.get(number)
    durable = durability == _ffi.DURABILITY_DURABLE
    answer(part, done, lambda: lib["cove_done_version"](done, part.store.insert(_read(document), durable)))


def _on_find(number: Optional[int], kind: int, name: bytes, done: _ffi.Done) -> None:
    part: _MetadataPart = registry.get(number)

    def give() -> None:
        found = part.store.find(_KINDS[kind], name)
        lib["cove_done_document"](done, None if found is None else _ffi.pointer_to(_raw(found)))

    answer(part, done, give)


def _on_swap(number: Optional[int], document: Any, expected: int, durability: int, done: _ffi.Done) -> None:
    part: _MetadataPart = registry.get(number)
    durable = durability == _ffi.DURABILITY_DURABLE

    def give() -> None:
        lib["cove_done_version"](done, part.store.compare_and_swap(_read(document), expected, durable))

    answer(part, done, give)


def _on_remove(number: Optional[int], kind: int, name: bytes, expected: int, done: _ffi.Done) -> None:
    part: _MetadataPart = registry.get(number)

    def give() -> None:
        part.store.remove(_KINDS[kind], name, expected)
        lib["cove_done_ok"](done)

    answer(part, done, give)


def _on_query(number: Optional[int], query: Any, done: _ffi.Done) -> None:
    part: _MetadataPart = registry.get(number)

    def give() -> None:
        page = part.store.query(_read_query(query))
        raw: List[Any] = [_raw(document) for document in page.documents]
        array = _ffi.array_of(_ffi.Document, raw)
        lib["cove_done_documents"](done, array, len(raw), 1 if page.is_last else 0)

    answer(part, done, give)


def _on_now(number: Optional[int], done: _ffi.Done) -> None:
    part: _MetadataPart = registry.get(number)
    answer(part, done, lambda: lib["cove_done_time"](done, int(part.store.now_ms())))


_insert_fn = _ffi.InsertDocumentFn(_on_insert)
_find_fn = _ffi.FindDocumentFn(_on_find)
_swap_fn = _ffi.SwapDocumentFn(_on_swap)
_remove_fn = _ffi.RemoveDocumentFn(_on_remove)
_query_fn = _ffi.QueryDocumentsFn(_on_query)
_now_fn = _ffi.StoreTimeFn(_on_now)
