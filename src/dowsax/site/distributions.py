"""What is believed of a number beforehand, as a site file writes it."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Tag, model_validator

from dowsax.site.errors import Fault, show
from dowsax.site.section import Number, Section, key

FORMS = 'a number, "unknown", [low, high], {mean = 1, std = 0.1} or {median = 1, factor = 2}'


class RangeSetting(Section):
    """Between two numbers, on a linear or logarithmic scale, or on that of the usual distribution."""

    low: Number
    high: Number
    scale: Literal["own", "linear", "log"] = "own"

    @model_validator(mode="after")
    def _require_order(self) -> "RangeSetting":
        if not self.low < self.high:
            raise ValueError(f"must be [low, high] with low below high; got [{self.low:g}, {self.high:g}].")
        if self.scale == "log" and self.low <= 0:
            raise Fault(f"must be > 0 on a log scale; got {self.low:g}.", "low")
        return self


class NormalSetting(Section):
    """Around a mean."""

    mean: Number
    std: Number = key(..., gt=0)


class LogNormalSetting(Section):
    """Within a factor of a median."""

    median: Number = key(..., gt=0)
    factor: Number = key(..., gt=1)


_TABLES = {
    RangeSetting: ("low", "high"),
    NormalSetting: ("mean", "std"),
    LogNormalSetting: ("median", "factor"),
}


def _form(value: Any) -> str | None:
    """Return the name of the form in which a distribution is written."""
    if value == "unknown":
        return "unknown"
    if isinstance(value, int | float):
        return None if isinstance(value, bool) else "number"
    if isinstance(value, list):
        return "pair"
    for table, keys in _TABLES.items():
        if isinstance(value, table) or (isinstance(value, dict) and set(keys) <= set(value)):
            return table.__name__
    return None


def _name_ends(value: list[Any]) -> dict[str, Any]:
    if len(value) != 2:
        raise ValueError(f"must be two numbers in brackets, [low, high]; got {show(value)}.")
    return dict(zip(("low", "high"), value, strict=True))


Distribution = Annotated[
    Annotated[Literal["unknown"], Tag("unknown")]
    | Annotated[Number, Tag("number")]
    | Annotated[RangeSetting, BeforeValidator(_name_ends), Tag("pair")]
    | Annotated[RangeSetting, Tag("RangeSetting")]
    | Annotated[NormalSetting, Tag("NormalSetting")]
    | Annotated[LogNormalSetting, Tag("LogNormalSetting")],
    Discriminator(_form, custom_error_type="form", custom_error_message=f"must be {FORMS}"),
]
"""A known number, a range, a normal or a log-normal distribution; "unknown" is the usual one of the kind."""


def ends(distribution: Any) -> tuple[float, ...]:
    """Return the known number, or the ends of a range; nothing for a distribution without ends."""
    if isinstance(distribution, RangeSetting):
        return distribution.low, distribution.high
    return (distribution,) if isinstance(distribution, int | float) else ()


def _require_not_negative(distribution: Any) -> Any:
    if min(ends(distribution), default=0.0) < 0:
        raise ValueError(f"must be >= 0; got {min(ends(distribution)):g}.")
    return distribution


NonNegative = Annotated[Distribution, AfterValidator(_require_not_negative)]
