"""Readings that were taken: from the rows of a CSV file, or the keys of a JSON object."""

from dowsax.survey.survey import Survey, read_survey

__all__ = ["Survey", "read_survey"]
