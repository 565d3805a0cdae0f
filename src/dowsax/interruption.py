"""Ctrl-C and SIGTERM: a command ends soon, says in one line what was saved, and never crashes.

Python raises an interruption between two instructions of the main thread. That is not enough here: a
compilation runs for minutes without one, JAX's hook in the garbage collector drops the exception, and an
interpreter that shuts down while threads of the compiler run ends in a segmentation fault. So a thread
watches for signals too: it raises a dropped interruption again and ends the process when the main thread does
not. And an interrupted process ends without shutting the interpreter down.
"""

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

GRACE_S = 8.0
"""How long the main thread has to end by itself; a second signal ends the process at once."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DROPPED = b"\0"
"""To the watching thread: an interruption was dropped. Every other byte is the number of a signal."""
_WATCHER_S = 0.5
"""How long the watching thread may take to notice a signal."""
_HOOK_S = 0.1
"""How long Python may take to drop an exception: far longer than it does."""
_EXIT_CODE_BASE = 128


class Terminated(KeyboardInterrupt):
    """An interruption by SIGTERM."""


def exit_code(error: KeyboardInterrupt) -> int:
    """Return what a shell reports of a process ended by the signal: 143 after SIGTERM, otherwise 130."""
    return _EXIT_CODE_BASE + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


# A plain class, as this is imported first and `dataclasses` takes longer than all the rest.
class Pending:
    """What to print and do at the next signal."""

    def __init__(self, message: str = "") -> None:
        self.message = message
        """What was saved and how to continue; empty: nothing is printed."""
        self.grace_s: float | None = None
        """How long the main thread has to end by itself; default: `GRACE_S`."""
        self.signum: int | None = None
        """The deferred signal."""

    def check(self) -> None:
        """Raise the deferred interruption, if there is one."""
        if self.signum is not None:
            raise _interruption(self.signum)

    def take_line(self) -> str:
        """Return the line to print, once; afterwards an empty text."""
        message, self.message = self.message, ""
        return f"dowsax: interrupted. {message}\n" if message else ""


_innermost = Pending()


@contextmanager
def explain_interruption(message: str) -> Iterator[Pending]:
    """Print `message` on stderr if the block is interrupted, and re-raise the interruption."""
    global _innermost
    before, _innermost = _innermost, Pending(message)
    try:
        yield _innermost
    except KeyboardInterrupt:
        sys.stderr.write(_innermost.take_line())
        raise
    finally:
        _innermost = before


@contextmanager
def defer_interruption(message: str) -> Iterator[Pending]:
    """Like `explain_interruption`, but nothing is raised before `check` is called or the block ends.

    Until the block sets `grace_s`, a signal ends the process at once.
    """
    with explain_interruption(message) as pending:
        pending.grace_s = 0.0
        handlers = {signum: _install(signum, _defer) for signum in _SIGNALS}
        try:
            yield pending
        finally:
            for signum, handler in handlers.items():
                signal.signal(signum, handler)
        pending.check()


def run_and_exit(run: Callable[[], int]) -> NoReturn:
    """Run a command and end the process with its exit code, or with 130 or 143 after a signal."""
    watcher = _Watcher()
    _install(signal.SIGTERM, _raise)
    watcher.start()
    try:
        code = run()
    except BaseException as error:
        # The interruption may have turned into any other error on its way.
        if not isinstance(error, KeyboardInterrupt) and not watcher.noticed.wait(_WATCHER_S):
            raise
        code = exit_code(error) if isinstance(error, KeyboardInterrupt) else 0
    if watcher.signum is not None:
        code = _EXIT_CODE_BASE + watcher.signum
    if code <= _EXIT_CODE_BASE:
        sys.exit(code)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


class _Watcher(threading.Thread):
    """Watches for signals while the main thread is busy, and ends the process if that does not."""

    def __init__(self) -> None:
        super().__init__(name="signals", daemon=True)
        self.signum: int | None = None
        self.noticed = threading.Event()
        self._receiver, self._sender = os.pipe()
        os.set_blocking(self._sender, False)
        self._num_echoes = 0
        signal.set_wakeup_fd(self._sender, warn_on_full_buffer=False)
        unraisable_hook, except_hook = sys.unraisablehook, sys.excepthook
        # Python and extension modules print what they cannot raise, and continue.
        sys.unraisablehook = lambda hooked: self._was_dropped(hooked.exc_type) or unraisable_hook(hooked)
        sys.excepthook = lambda *error: self._was_dropped(error[0]) or except_hook(*error)

    def _was_dropped(self, exc_type: type[BaseException]) -> bool:
        """Whether an exception that is about to be printed is an interruption, which is raised again."""
        is_interruption = issubclass(exc_type, KeyboardInterrupt)
        if is_interruption:
            os.write(self._sender, _DROPPED)
        return is_interruption

    def run(self) -> None:
        self.signum = self._next_signal(None)
        self.noticed.set()
        grace_s = _innermost.grace_s
        self._next_signal(GRACE_S if grace_s is None else grace_s)
        line = _innermost.take_line()
        if os.isatty(2):
            # Clear a progress bar and show the cursor again.
            line = f"\r\x1b[K\x1b[?25h{line}"
        # Past the buffers of the main thread, which may hold their locks.
        with suppress(OSError):
            os.write(2, line.encode())
        os._exit(_EXIT_CODE_BASE + (self.signum or signal.SIGINT))

    def _next_signal(self, timeout_s: float | None) -> int | None:
        """Wait for the next signal that this module handles; `None` after the timeout."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            if not select.select([self._receiver], [], [], left)[0]:
                return None
            byte = os.read(self._receiver, 1)
            if byte == _DROPPED:
                self._raise_again()
            elif self._is_new(byte[0]):
                return byte[0]

    def _raise_again(self) -> None:
        # Not before the main thread has left the hook, which would drop it once more.
        time.sleep(_HOOK_S)
        # It writes a byte like any signal, and is no second signal.
        self._num_echoes += 1
        signal.pthread_kill(threading.main_thread().ident or 0, self.signum or signal.SIGINT)

    def _is_new(self, signum: int) -> bool:
        if self._num_echoes and signum == self.signum:
            self._num_echoes -= 1
            return False
        # Another handler, such as a web server's, ends the process itself.
        ours = (signal.default_int_handler, _raise, _defer)
        return signum in _SIGNALS and signal.getsignal(signum) in ours


def _install(signum: int, handler: Callable[[int, FrameType | None], None]) -> Any:
    """Set a handler, unless the signal is ignored, and return the one before."""
    before = signal.getsignal(signum)
    if before is not signal.SIG_IGN:
        signal.signal(signum, handler)
    return before


def _raise(signum: int, frame: FrameType | None) -> None:
    raise _interruption(signum)


def _defer(signum: int, frame: FrameType | None) -> None:
    """Record the first signal; a second one is not deferred."""
    _innermost.check()
    _innermost.signum = signum


def _interruption(signum: int) -> KeyboardInterrupt:
    return Terminated() if signum == signal.SIGTERM else KeyboardInterrupt()
