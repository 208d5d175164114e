"""Signals of Python while its main thread waits in C.

Python notes a signal and runs its handler between two steps of the main thread, of which there are
none while that waits in C. So C asks every 50 ms whether it may wait on, and the handlers run then.
"""

from __future__ import annotations

import functools
import itertools
import threading
from typing import Any, Generator, List, Optional

from . import _ffi
from ._ffi import lib

#: What handlers raised while C asked: one at most but for a signal right behind another.
_raised: List[BaseException] = []

WAIT_ON, CALL_OFF = 1, 0


def _answers() -> Generator[int, None, None]:
    """What C hears, one answer after the other. A generator: a handler runs where its frame goes on,
    which is within the `try`; a function would be broken off before it could catch anything."""
    answer = WAIT_ON
    while True:
        try:
            yield answer
            answer = WAIT_ON
        except GeneratorExit:
            return
        except BaseException as error:
            _raised.append(error)
            answer = CALL_OFF


class _Asked(threading.local):
    """Which answers this thread gives."""

    answers: Optional[Generator[int, None, None]] = None
    check: Any = None


_asked = _Asked()


def listen() -> bool:
    """Lets signals into the calls of this thread that wait in C. False where it hears none."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if _asked.answers is None or _asked.answers.gi_frame is None:
        _listen_anew()
    return True


def _listen_anew() -> None:
    answers = _answers()
    next(answers)  # into the `try`
    # A second signal while the first one's exception is caught ends the answers: CALL_OFF from then
    # on. Only C code is between C and the generator; `next` takes the user_data for its default.
    ask = functools.partial(next, itertools.chain(answers, itertools.repeat(CALL_OFF)))
    check = _ffi.WaitCheckFn(ask)
    lib["cove_thread_set_wait_check"](check, None)
    _asked.answers, _asked.check = answers, check


def raise_heard() -> None:
    """Raises what a handler raised while C waited."""
    if _raised:
        error = _raised[0]
        _raised.clear()
        raise error from None
