"""Optional dependencies: which extra installs a module, and the one line that says so where it is missing."""

from importlib.util import find_spec

EXTRAS = {
    "arviz": ("arviz",),
    "mavlink": ("pymavlink",),
    "mcap": ("mcap",),
    "mqtt": ("aiomqtt",),
    "ray": ("ray",),
    "results": ("pyarrow",),
    "serial": ("serial",),
    "viz": ("matplotlib", "PIL"),
    "console": ("fastapi", "PIL", "python_multipart", "tomlkit", "utm", "uvicorn", "websockets"),
}
"""The top-level modules that dowsax imports of each extra in pyproject.toml."""
TRANSITIVE = {"starlette": "console"}
"""Dependencies of an extra that dowsax imports, too."""


class MissingExtra(ModuleNotFoundError, ValueError):
    """An extra has to be installed first. A ValueError, too, as such are answered in one line."""


def has_extra(extra: str) -> bool:
    """Whether all modules of an extra are installed. Nothing is imported."""
    return all(map(_is_installed, EXTRAS[extra]))


def require_extra(extra: str, feature: str) -> None:
    """Raise `MissingExtra`, which names the feature and the extra that it needs, where that is missing."""
    if not has_extra(extra):
        raise MissingExtra(describe_missing(extra, feature), name=EXTRAS[extra][0])


def describe_missing(extra: str, feature: str) -> str:
    """Return the line that says what to install."""
    return f"{feature} needs the extra `{extra}`: pip install 'dowsax[{extra}]'."


def extra_behind(error: BaseException | None) -> str | None:
    """Return the extra whose missing module led to an error; None where there is another reason."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__ or error.__context__
    top = "" if error is None else (error.name or "").partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if top in modules), TRANSITIVE.get(top))


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
