"""The site file to start from: every key, what it means, and what happens without it."""

from dowsax.site.kinds import KINDS

_PLACES = """\
# A site for dowsax: where the search is, what is measured there, what is known, what may be spent.
# Lengths are in metres, times in seconds, wind in m/s. Every key but [area] and kind may be left out.
# Check the file with `dowsax site check FILE`.

name = "My site"

[area]
# The box in which the source lies: metres east and north of your own (0, 0),
low = [0.0, 0.0]
high = [200.0, 150.0]
# or, instead of low and high, degrees:
# south = 52.1000
# west = 5.1000
# north = 52.1015
# east = 5.1030
# Where (0, 0) is, as latitude and longitude: needed to use metres and degrees together. With an area in
# degrees it is the middle of the area, unless given.
# origin = [52.1000, 5.1000]
# Readings taken outside the area: "refuse", "leave-out" or "allow".
outside = "refuse"
# Where the source is known to lie in a part of the area only, that part, in metres:
# source_low = [20.0, 20.0]
# source_high = [120.0, 90.0]

# Where one may be, once for each piece; corners in order, in metres, or corners_degrees = [[lat, lon], ...].
[[geofence]]
name = "fence"
corners = [[0.0, 0.0], [200.0, 0.0], [200.0, 150.0], [0.0, 150.0]]

# Where one may not be, nor pass.
[[no_go]]
name = "tank"
corners = [[90.0, 60.0], [110.0, 60.0], [110.0, 80.0], [90.0, 80.0]]

"""
_GAS_PLUME = """\
[field]
# "gas-plume": gas in the wind. "radiation": counts. "level": decibels that fall with distance (radio, sound).
# "magnetic-dipole": buried iron. Or a field of the benchmark: temperature, concentration, magnetic, electric,
# gas, energy, noise.
kind = "gas-plume"
# Of the readings. gas-plume: ppm, ppb, vol%, mg/m3, ... radiation: counts. level: dB, dBm, dB(A).
# magnetic-dipole: nT. A survey whose header says another unit is converted where a factor does it.
unit = "ppm"
# With it the release rate comes out in grams per second: methane, carbon dioxide, carbon monoxide,
# hydrogen sulfide, sulfur dioxide, ammonia, propane, hydrogen, or a molar mass [g/mol].
gas = "methane"
# gas-plume: how its width and height grow with the distance: "briggs", as his formulas say, or "unknown".
# Over hundreds of metres they say more than one knows, and a belief that takes their word may be too sure.
# growth = "unknown"
# gas-plume: how wide the source itself is.
# size = 0.2
# radiation, level, magnetic-dipole: how near one can come to it.
# standoff = 0.1
# magnetic-dipole: the earth's field, degrees downwards and degrees east of north.
# inclination = 65.0
# declination = 0.0

# What is believed of the source beforehand. A number is known; [low, high] is a range; {mean = 1, std = 0.1}
# and {median = 1, factor = 2} are laws; {low = 1, high = 9, scale = "log"} is a range with its scale
# ("linear" or "log"); "unknown" is the usual law. gas-plume: q, height, stability, lateral, vertical,
# meander, turn, speed (ux, uy where the wind is unknown; reach, widen, curve, rise, bend for its growth).
# radiation: q, attenuation, height. level: level, exponent, height. magnetic-dipole: mx, my, mz, depth.
# Benchmark fields: strength, diffusivity, max_speed, max_decay_length.
[prior]
# Release rate [g/s].
q = [0.001, 10.0]
# Of the source above ground [m].
height = [0.0, 3.0]

[background]
# What the sensor reads without a source: "usual" for the kind, "none", "known" (then give value), "unknown"
# (then a range may be given), or "per-sensor": unknown, and different for each sensor.
mode = "unknown"
range = [1.7, 2.5]
# value = 1.9

[noise]
# Where there is nothing to read, in the unit of the readings: a number, [low, high], or "unknown".
floor = "unknown"
# As a share of what the source adds to the background; likewise.
ratio = "unknown"
# Whether a few readings may be far off.
robust = true
# How far off the edges of the plume may be, as a share of its middle: for rows of samplers across it.
# edge = 0.1

[wind]
# "measured" with each reading, "constant" (then give it below), or "unknown" and inferred.
mode = "measured"
# Readings of a survey that have no wind: "leave-out", "interpolate" in time, or "refuse".
missing = "leave-out"
# How far the direction measured with a reading is off the wind that carries the plume, in degrees (standard
# deviation), another error at each reading: gusts, and the anemometer. Without the key 10, as the wind
# scatters within minutes by day; 20 in light wind and sunshine; 0 for one mean wind given with every reading.
# What all readings share is `turn` in [prior].
direction_error = 10.0
# The constant wind: speed and the direction it comes FROM, degrees clockwise from north (270 is a west wind),
# speed = 3.0
# from = 270.0
# or the velocity of the air, east and north: where it goes.
# velocity = [3.0, 0.0]

[sensor]
# The sensors there are, where there are several.
# names = ["A", "B"]
# Time constant of a sensor that lags: a number, [low, high], or "unknown".
# lag = 5.0
# How long each reading counts, where a survey does not say: radiation.
# dwell = 1.0
# For how long it is blind after each count: radiation.
# dead_time = 1e-6
# Above ground, where a survey does not say.
height = 1.5
# Height of the ground itself, taken off every altitude in a survey.
ground = 0.0
# How many readings count as one. Readings taken close together in place or time share their errors: counted
# in full they make a region that is too small. Without the key a whole survey says itself how many, and a
# mission counts each as one.
# redundancy = 4

"""
_REST = """\
[start]
# Where the search starts, in metres or as position_degrees = [lat, lon]. The middle of the area without it.
position = [10.0, 10.0]

[step]
# How far to go between readings, and in how many directions one may go.
length = 10.0
directions = 8
# Or the only places where one can measure, in metres or as points_degrees = [[lat, lon], ...].
# points = [[10.0, 10.0], [50.0, 10.0], [50.0, 50.0]]

[budget]
# When the search ends at the latest; without a key there is no such limit.
distance = 2000.0
readings = 100
time = 1800.0

[search]
# The filter: "survey", whose particles move as often as many unknowns need, "default" or "paper".
preset = "survey"
# More are slower and more exact; without the key, as many as the filter has by itself.
# particles = 2048
# The source is found when it lies within this radius with this probability.
radius = 5.0
probability = 0.95
# Whether the source may move, or the wind change, during the search. If so, it is not checked whether the
# readings fit the model.
may_jump = false

# For plans of QGroundControl (`dowsax export --to qgc`).
[flight]
# Above the place of take-off. Without it, that of the readings where these are 5 m up or more, else 20 m:
# the height of a sensor in the hand is not one to fly at.
# height = 20.0
# How fast to fly [m/s].
# speed = 5.0
# How long to stay at each place; without it, as long as a reading counts, or not at all.
# hold = 10.0

# Which column of a survey holds what, where its name does not say so: x, y, latitude, longitude, value,
# altitude, time, date, wind_u, wind_v (where the air goes), wind_speed, wind_from, dwell, sensor. An empty
# text leaves a column out.
[columns]
# value = "ch4"
# time = ""

# Which rows of a survey belong to this search, where a file holds several: the text in a column.
[rows]
# event = "1"
"""
NEW_SITE = _PLACES + _GAS_PLUME + _REST
"""Of gas in the wind, where most keys have a use."""
_LAWS = """\
# What is believed of the source beforehand. A number is known; [low, high] is a range; {mean = 1, std = 0.1}
# and {median = 1, factor = 2} are laws; {low = 1, high = 9, scale = "log"} is a range with its scale
# ("linear" or "log"); "unknown" is the usual law.
[prior]
"""
_BENCHMARK_PRIOR = """\
# The ranges of the source: [low, high] of strength and diffusivity [m²/s], the greatest wind [m/s] and the
# greatest distance over which the field decays [m].
[prior]
# strength = [10.0, 3000.0]
# diffusivity = [1.0, 5.0]
# max_speed = 6.0
# max_decay_length = 8.0
"""
_BACKGROUND = """
[background]
# What the sensor reads without a source: "usual" for the kind, "none", "known" (then give value), "unknown"
# (then a range may be given), or "per-sensor": unknown, and different for each sensor.{unit}
mode = "usual"
"""
_NOISE = """
[noise]
# Where there is nothing to read, in the unit of the readings: a number, [low, high], or "unknown".
floor = "unknown"
# Whether a few readings may be far off.
robust = true
"""
_SENSOR = """
[sensor]
# The sensors there are, where there are several.
# names = ["A", "B"]
# Time constant of a sensor that lags: a number, [low, high], or "unknown".
# lag = 5.0
# How many readings count as one. Readings taken close together in place or time share their errors: counted
# in full they make a region that is too small. Without the key a whole survey says itself how many, and a
# mission counts each as one.
# redundancy = 4
"""
_DWELL = """\
# How long each reading counts, where a survey does not say.
dwell = 1.0
"""
_DEAD_TIME = """\
# For how long it is blind after each count.
# dead_time = 1e-6
"""
_HEIGHT = """\
# Above ground, where a survey does not say.
height = 1.0
# Height of the ground itself, taken off every altitude in a survey.
ground = 0.0
"""
_OPTIONS = {
    "standoff": "# How near one can come to it.\n# standoff = 0.1\n",
    "inclination": "# The earth's field: degrees down and degrees east of north.\n# inclination = 65.0\n",
    "declination": "# declination = 0.0\n",
}


def new_site(kind: str = "gas-plume") -> str:
    """A site file of this kind with every key that has a use there, explained."""
    if kind not in KINDS:
        raise ValueError(f"Unknown kind {kind!r}; known are {', '.join(KINDS)}.")
    if kind == "gas-plume":
        return NEW_SITE
    facts = KINDS[kind]
    field = f'[field]\n# {_sentence(facts.meaning)}\nkind = "{kind}"\n'
    field += f'# Of the readings: {", ".join(facts.units)}.\nunit = "{facts.unit}"\n' if facts.unit else ""
    field += "".join(_OPTIONS[name] for name in facts.options) + "\n"
    field += _BENCHMARK_PRIOR if facts.is_benchmark else _LAWS + _parameters(kind, facts.unit)
    field += _BACKGROUND.format(unit=" In counts per second." if kind == "radiation" else "")
    field += "" if facts.is_benchmark or facts.counts else _NOISE
    field += _SENSOR + (_DWELL if facts.counts else "") + (_DEAD_TIME if kind == "radiation" else "")
    field += "" if facts.is_benchmark else _HEIGHT
    return f"{_PLACES}{field}\n{_REST}"


def _parameters(kind: str, unit: str) -> str:
    """A line for each parameter with its meaning, as it is without the line."""
    # Late, so that files are read without the physics.
    from dowsax.world.kinds import kind_of

    physics, lines = kind_of(kind, unit), []
    for parameter in physics.parameters:
        measured = f" [{parameter.unit}]" if parameter.unit else ""
        usual = repr(physics.known[parameter.name]) if parameter.name in physics.known else '"unknown"'
        lines.append(f"# {_sentence(parameter.meaning + measured)}\n# {parameter.name} = {usual}\n")
    return "".join(lines)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
