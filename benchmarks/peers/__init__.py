"""Engines a user could install instead of dowsax, each on the same pinned model.

Every module has one function `run(field, positions, readings, seed) -> PeerResult`; keyword arguments choose
the variant. Only the module of an engine imports its package.
"""
