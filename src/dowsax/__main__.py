"""`python -m dowsax` is the command `dowsax`."""

from dowsax.interruption import run_and_exit


def main() -> None:
    """The entry point `dowsax`: signals are handled before the command line is imported."""
    run_and_exit(_run)


def _run() -> int:
    from dowsax.cli import run

    return run()


if __name__ == "__main__":
    main()
