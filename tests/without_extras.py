"""Run commands with the modules of all extras blocked: a JSON list of them in, what each said out.

A program of its own, as those modules are long imported in the process of the tests.
"""

import io
import json
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout

from dowsax.extras import EXTRAS, TRANSITIVE

BLOCKED = {module for modules in EXTRAS.values() for module in modules} | set(TRANSITIVE)


class Blocker:
    """A finder that finds none of the blocked modules."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def outcome(words):
    """The exit code of a command, what it printed, and the traceback where it raised."""
    # Late: nothing of dowsax but the names of its extras may be imported before they are blocked.
    from dowsax.cli import run

    stdout, stderr, code = io.StringIO(), io.StringIO(), None
    with redirect_stdout(stdout), redirect_stderr(stderr):
        try:
            code = run(words)
        except BaseException:
            traceback.print_exc()
    return {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}


def expression(source):
    """The error of a Python program in one line."""
    try:
        exec(source, {})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    sys.meta_path.insert(0, Blocker)
    asked = json.load(sys.stdin)
    said = {name: outcome(words) for name, words in asked["commands"].items()}
    errors = {name: expression(source) for name, source in asked["programs"].items()}
    print(json.dumps({"commands": said, "programs": errors}))
