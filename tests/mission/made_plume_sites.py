"""A site in a gas plume of which all but the source is known, with measured wind."""

SITE = """
area = {low = [0, 0], high = [120, 80]}
field = {kind = "gas-plume", unit = "ppm", gas = "methane"}
background = {mode = "known", value = 2.0}
noise = {ratio = 0.2, floor = 0.02, robust = true}
wind = {direction_error = 0}
[prior]
q = [0.1, 10]
height = 1.0
stability = 3
lateral = 1.0
vertical = 1.0
meander = 0.1
turn = {mean = 0, std = 10}
speed = 1.0
"""
