"""`python -m dowsax` is the command `dowsax`."""

from dowsax.cli import main

if __name__ == "__main__":
    main()
