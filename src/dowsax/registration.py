"""The search problem in Gymnasium's registry."""

import gymnasium

ENVIRONMENT_ID = "dowsax/Search-v0"


def register() -> None:
    """Enter the environment into Gymnasium's registry, once. Its modules are imported when one is made."""
    if ENVIRONMENT_ID not in gymnasium.registry:
        gymnasium.register(
            ENVIRONMENT_ID,
            entry_point="dowsax.envs.gym:SearchEnv",
            vector_entry_point="dowsax.envs.gym_vector:SearchVectorEnv",
        )
