"""Tests of the survey package; a package itself, as other folders have tests of the same names."""
