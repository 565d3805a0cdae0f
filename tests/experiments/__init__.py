"""A package, as other folders have tests of the same name."""
