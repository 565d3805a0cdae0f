"""Register the environments with Gymnasium, for programs that do not import dowsax themselves.

Such a program calls `gymnasium.make("dowsax.envs.register:dowsax/Search-v0")`.
"""

from dowsax.registration import register

register()
