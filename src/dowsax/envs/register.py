"""Enters the environment into Gymnasium's registry, for those who do not import dowsax themselves.

They write `gymnasium.make("dowsax.envs.register:dowsax/Search-v0")`.
"""

from dowsax.registration import register

register()
