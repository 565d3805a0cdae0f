"""`python -m dowsax.cli` is `dowsax`."""

from dowsax.__main__ import main

main()
