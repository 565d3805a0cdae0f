"""`python -m dowsax.cli` is `dowsax`."""

from dowsax.cli import main

main()
