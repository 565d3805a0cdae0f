"""Models of an unknown number of sources, which hold the model of each number."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from dowsax.world.model import Model
from dowsax.world.several_columns import as_numbers

Choices = ParamSpec("Choices")


def with_each_number(build: Callable[Choices, Model]) -> Callable[Choices, Model]:
    """Give the model of an unknown number of `sources` the model of each number, for filters."""

    @wraps(build)
    def build_all(*places: Choices.args, **settings: Choices.kwargs) -> Model:
        whole = build(*places, **settings)
        numbers = as_numbers(settings.get("sources", 1))  # pyright: ignore[reportArgumentType]
        if len(numbers) == 1:
            return whole
        each = (build(*places, **settings | {"sources": number}) for number in numbers)  # pyright: ignore[reportCallIssue]
        return replace(whole, by_number=tuple(each))

    return build_all
