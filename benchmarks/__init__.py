"""Measurements of dowsax and of the engines a user could install instead.

CPU times are meant to be those of one thread: the linear algebra behind numpy is kept to one, unless the
caller has chosen otherwise. It has to happen before numpy is first imported, hence here.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
