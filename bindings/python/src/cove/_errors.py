"""One exception class per code of Cove; see docs/errors.md for what to do about each."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Type


class CoveError(Exception):
    """Why a call failed. `str()` is the message with its context and causes in one line."""

    #: The code's number, the same in every language; set by the subclasses.
    code: int = 0
    #: The code's name, as "not_found".
    name: str = "unknown"

    def __init__(
        self,
        message: str,
        *,
        description: Optional[str] = None,
        retry_after: Optional[float] = None,
        context: Optional[Dict[str, str]] = None,
    ) -> None:
        super().__init__(description or message)
        #: One line: the fact and its values.
        self.message = message
        #: Seconds after which the same call may be tried again; None where no time is known.
        self.retry_after = retry_after
        #: Facts beside the message.
        self.context: Dict[str, str] = dict(context or {})

    @property
    def cause(self) -> Optional[CoveError]:
        """The lower error that led to this one; `__cause__` as well."""
        return self.__cause__ if isinstance(self.__cause__, CoveError) else None

    def __reduce__(self) -> Tuple[Any, ...]:
        # Whole, also when it comes from another process.
        return _rebuilt, (type(self), self.args, self.__dict__, self.cause)


def _rebuilt(
    kind: Type[CoveError], arguments: Tuple[Any, ...], members: Dict[str, Any], cause: Optional[CoveError]
) -> CoveError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(members)
    error.__cause__ = cause
    return error


class InvalidArgumentError(CoveError, ValueError):
    """The call is wrong as written: correct it."""

    code, name = 1, "invalid_argument"


class NotFoundError(CoveError):
    """What was named does not exist."""

    code, name = 2, "not_found"


class AlreadyExistsError(CoveError):
    """What was to be made is there already; it was not changed."""

    code, name = 3, "already_exists"


class PermissionDeniedError(CoveError):
    """The caller may not do this."""

    code, name = 4, "permission_denied"


class PathEscapeError(CoveError):
    """The path leads out of the workspace; nothing was read or written."""

    code, name = 5, "path_escape"


class ConflictError(CoveError):
    """Somebody else changed it: read again and decide again."""

    code, name = 6, "conflict"


class FailedPreconditionError(CoveError):
    """The state must change first: a stopped sandbox, a closed handle, a forked process."""

    code, name = 7, "failed_precondition"


class UnavailableError(CoveError):
    """Not now: retry the same call, after `retry_after` where it is given."""

    code, name = 8, "unavailable"


class DeadlineError(CoveError, TimeoutError):
    """The caller's time limit passed."""

    code, name = 9, "timeout"


class CancelledError(CoveError):
    """The caller asked for it."""

    code, name = 10, "cancelled"


class TooLargeError(CoveError):
    """Over a limit of size: ask for less."""

    code, name = 11, "too_large"


class QuotaExceededError(CoveError):
    """No room (disk, places): wait, free some, or raise the limit."""

    code, name = 12, "quota_exceeded"


class IntegrityError(CoveError):
    """Stored bytes or markers are not what they must be: stop and look."""

    code, name = 13, "integrity"


class UnsupportedError(CoveError):
    """This build, machine or provider cannot do it."""

    code, name = 14, "unsupported"


class ProviderError(CoveError):
    """The machinery below refused."""

    code, name = 15, "provider"


class InternalError(CoveError):
    """A fault in Cove."""

    code, name = 16, "internal"


ERRORS: Dict[int, Type[CoveError]] = {
    error.code: error
    for error in (
        InvalidArgumentError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        PathEscapeError,
        ConflictError,
        FailedPreconditionError,
        UnavailableError,
        DeadlineError,
        CancelledError,
        TooLargeError,
        QuotaExceededError,
        IntegrityError,
        UnsupportedError,
        ProviderError,
        InternalError,
    )
}


def make_error(
    code: int,
    message: str,
    description: str,
    retry_after_ms: int,
    context: List[Tuple[str, str]],
    cause: Optional[CoveError],
) -> CoveError:
    """The exception of a code's class, with its cause as `__cause__`."""
    error = ERRORS.get(code, InternalError)(
        message,
        description=description,
        retry_after=None if retry_after_ms < 0 else retry_after_ms / 1000,
        context=dict(context),
    )
    error.__cause__ = cause
    return error
