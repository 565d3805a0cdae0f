"""Gymnasium hears of the search problem once both packages are imported, in whichever order.

Gymnasium has no plugins: somebody has to call `register`. Calling it here would make everybody who imports
dowsax wait for Gymnasium, so when that is not there yet, its own import is made to call it.
"""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ID = "dowsax/Search-v0"


def register() -> None:
    """Enter the environment into Gymnasium's registry. What it needs is imported when one is made."""
    import gymnasium

    if ID not in gymnasium.registry:
        gymnasium.register(
            ID,
            entry_point="dowsax.envs.gym:SearchEnv",
            vector_entry_point="dowsax.envs.gym_vector:SearchVectorEnv",
        )


def announce() -> None:
    """Register now if Gymnasium is imported already, and otherwise as soon as it is."""
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _OnImport())


class _OnImport(MetaPathFinder):
    """Finds Gymnasium as the other finders do, and registers at the end of its import."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def then_register(module: ModuleType) -> None:
            # Whoever only asked whether Gymnasium is there never comes here, and this finder stays.
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            loader.exec_module = execute
            execute(module)
            register()

        loader.exec_module = then_register
