"""Signals end a process soon, with its own exit code and one line: each case is a real process."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
HEAD = f"""
import atexit, gc, hashlib, os, signal, sys, threading, time
sys.path.insert(0, {str(SOURCE)!r})
from dowsax import interruption
from dowsax.interruption import defer_interruption, explain_interruption, run_and_exit

signal.signal(signal.SIGINT, signal.default_int_handler)
HOUR = 3600.0
interruption.GRACE_S = HOUR

def say(word):
    print(word, flush=True)

def compile():
    # Minutes in C without a single Python instruction.
    threading.Timer(0.3, say, ["ready"]).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)

"""
LIMIT_S = 60
"""Far more than any of these takes, and far less than the hour of grace or the work in C."""


def start(script):
    """A process that runs the script, and has said `ready`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEAD + textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A line is read and no more, so that the rest is there for `end_of`.
        bufsize=0,
    )
    assert process.stdout.readline() == b"ready\n", process.stderr.read()
    return process


def end_of(process):
    """(exit code, stdout, stderr) of a process that has to end by itself."""
    try:
        stdout, stderr = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    return process.returncode, stdout.decode(), stderr.decode()


SIGNALS = pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])


@SIGNALS
def test_a_compilation_is_cut_off_when_the_grace_is_over(signum, code):
    process = start("""
        interruption.GRACE_S = 0.5
        def run():
            with explain_interruption("All is kept."):
                compile()
        run_and_exit(run)
    """)
    process.send_signal(signum)
    assert end_of(process) == (code, "", "dowsax: interrupted. All is kept.\n")


@SIGNALS
def test_a_second_signal_ends_it_at_once(signum, code):
    process = start("""
        def run():
            with explain_interruption("All is kept."):
                compile()
        run_and_exit(run)
    """)
    process.send_signal(signum)
    time.sleep(0.5)
    process.send_signal(signum)
    assert end_of(process) == (code, "", "dowsax: interrupted. All is kept.\n")


@SIGNALS
def test_python_code_is_interrupted_and_cleans_up(signum, code):
    process = start("""
        def run():
            with explain_interruption("All is kept."):
                try:
                    say("ready")
                    time.sleep(HOUR)
                finally:
                    say("cleaned up")
        run_and_exit(run)
    """)
    process.send_signal(signum)
    assert end_of(process) == (code, "cleaned up\n", "dowsax: interrupted. All is kept.\n")


def test_the_interpreter_is_not_shut_down():
    """It would crash while a compiler's threads run. What was printed is not lost."""
    process = start("""
        atexit.register(say, "shut down")
        def run():
            try:
                say("ready")
                time.sleep(HOUR)
            except KeyboardInterrupt:
                print("kept")
            return 130
        run_and_exit(run)
    """)
    process.send_signal(signal.SIGINT)
    assert end_of(process) == (130, "kept\n", "")


def test_an_interruption_that_the_garbage_collector_swallows_comes_again():
    """As with the hook that JAX has there: Python prints and drops what is raised in it."""
    process = start("""
        def swallow(phase, info):
            gc.callbacks.clear()
            signal.raise_signal(signal.SIGTERM)
        def run():
            say("ready")
            gc.callbacks.append(swallow)
            gc.collect()
            time.sleep(HOUR)
        run_and_exit(run)
    """)
    assert end_of(process) == (143, "", "")


def test_an_interruption_that_an_extension_module_prints_comes_again():
    """As `PyErr_Print` does: it calls the hook and goes on."""
    process = start("""
        def run():
            say("ready")
            try:
                signal.raise_signal(signal.SIGTERM)
            except KeyboardInterrupt:
                sys.excepthook(*sys.exc_info())
            time.sleep(HOUR)
        run_and_exit(run)
    """)
    assert end_of(process) == (143, "", "")


def test_other_errors_of_that_kind_are_still_shown():
    process = start("""
        def fail(phase, info):
            gc.callbacks.clear()
            raise RuntimeError("hook")
        def run():
            gc.callbacks.append(fail)
            gc.collect()
            say("ready")
            return 0
        run_and_exit(run)
    """)
    code, _, stderr = end_of(process)
    assert code == 0
    assert "RuntimeError: hook" in stderr


def test_an_error_in_place_of_the_interruption_is_not_shown():
    """As when it comes while an extension module is imported."""
    process = start("""
        def run():
            try:
                say("ready")
                time.sleep(HOUR)
            except KeyboardInterrupt:
                raise ImportError("Encountered an error while initializing the extension.") from None
        run_and_exit(run)
    """)
    process.send_signal(signal.SIGTERM)
    assert end_of(process) == (143, "", "")


def test_errors_without_a_signal_are_shown():
    process = start("""
        def run():
            say("ready")
            raise RuntimeError("a bug")
        run_and_exit(run)
    """)
    code, _, stderr = end_of(process)
    assert code == 1
    assert stderr.startswith("Traceback")
    assert "RuntimeError: a bug" in stderr


def test_without_a_signal_it_ends_as_usual():
    process = start("""
        atexit.register(say, "shut down")
        def run():
            say("ready")
            return 3
        run_and_exit(run)
    """)
    assert end_of(process) == (3, "shut down\n", "")


def test_a_handler_of_somebody_else_is_left_alone():
    """A web server ends in its own time."""
    process = start("""
        interruption.GRACE_S = 0.0
        asked = []
        def run():
            signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
            say("ready")
            while not asked:
                time.sleep(0.01)
            time.sleep(0.5)
            return 0
        run_and_exit(run)
    """)
    process.send_signal(signal.SIGTERM)
    assert end_of(process) == (0, "", "")


def test_signals_that_are_ignored_stay_ignored():
    """As SIGINT is in a process that a shell has started in the background."""
    process = start("""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        def run():
            with defer_interruption("All is kept.") as pending:
                signal.raise_signal(signal.SIGINT)
                pending.check()
            signal.raise_signal(signal.SIGINT)
            say("ready")
            return 0
        run_and_exit(run)
    """)
    assert end_of(process) == (0, "", "")


@SIGNALS
def test_a_deferred_signal_waits_for_the_check(signum, code):
    process = start(f"""
        def run():
            with defer_interruption("Nothing is kept.") as pending:
                pending.grace_s = HOUR
                pending.check()
                signal.raise_signal({int(signum)})
                say("ready")
                time.sleep(0.2)
                pending.message = "One chunk is kept."
                pending.check()
                say("never said")
        run_and_exit(run)
    """)
    assert end_of(process) == (code, "", "dowsax: interrupted. One chunk is kept.\n")


def test_a_deferred_signal_without_grace_ends_it_at_once():
    process = start("""
        def run():
            with defer_interruption("Nothing is kept.") as pending:
                compile()
        run_and_exit(run)
    """)
    process.send_signal(signal.SIGTERM)
    assert end_of(process) == (143, "", "dowsax: interrupted. Nothing is kept.\n")


def test_a_deferred_signal_that_nobody_checks_comes_at_the_end_of_the_block():
    process = start("""
        def run():
            with defer_interruption("All is kept.") as pending:
                pending.grace_s = HOUR
                signal.raise_signal(signal.SIGTERM)
                say("ready")
            say("never said")
        run_and_exit(run)
    """)
    assert end_of(process) == (143, "", "dowsax: interrupted. All is kept.\n")
