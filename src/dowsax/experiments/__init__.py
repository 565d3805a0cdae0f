"""Experiments: named runs of simulated searches, one store for their results, one runner, the paper's suites.

A *run* (`run.Run`) is the searches of one policy on one field: scenario, filter preset, seed, number of
episodes and readings, stop rules. A *walk run* (`walks.WalkRun`) is one filter on the readings of random
walks. Either is a frozen dataclass of names and numbers. Its *fingerprint* is a hash of all that decides
about its numbers: these settings, the choices of the filter, and the digests of trained weights.

A *store* (`store.Store`) is a folder. The results of a run are one file in it:

    runs/PRESET/SCENARIO/FIELD/POLICY-FINGERPRINT.npz

It holds arrays, and as JSON its settings, versions, commit, device and the hash of the filter's code. A file
is written under another name and renamed, so it is complete or absent. Runs with different settings have
different fingerprints, hence different files. A file that other filter code has computed is refused, unless
its hash is trusted. While a run is incomplete its results are in shards, next to its file:

    runs/PRESET/SCENARIO/FIELD/POLICY-FINGERPRINT.shards/START-STOP.npz

The process that writes the last shard joins them to the one file. After a kill the same command computes the
missing shards only.

The *runner* (`runner.execute`) computes the missing shards of a list of runs until a deadline: in this
process (`runner.local`), in several (`runner.processes`) or on Ray (`on_ray.on_ray`). Several commands may
work on one folder: a shard is claimed with a file lock that ends with its process. An episode depends on its
own key alone, so that all three give the same numbers.

On top of these:

- an *evaluation* (`evaluation`) is every policy on every field, for `dowsax evaluate` and `compare`;
- a *suite* (`suites`) is a list of runs and the table and figures that are made of them, for `reproduce`;
- the scripts in `benchmarks` list runs of their own.

Tables and figures are always made from what the store holds.
"""
