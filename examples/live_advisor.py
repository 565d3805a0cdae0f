"""A live advisor: a reading goes in, what to do next comes out, until the source is found or cannot be."""

import jax

from dowsax import Advisor, Station
from dowsax.site import parse_site

SITE = parse_site("""
name = "yard"
area = {low = [0, 0], high = [60, 40]}
field = {kind = "radiation", unit = "counts"}
prior = {q = [1000, 100000]}
sensor = {dwell = 5}
start = {position = [5, 5]}
step = {length = 6, directions = 12}
budget = {readings = 40}
search = {particles = 512, radius = 3}
[[no_go]]
corners = [[25, 15], [35, 15], [35, 25], [25, 25]]
""")


def main() -> None:
    truth = jax.numpy.array([44.0, 29.0, 20000.0, 0.0093, 0.5, 10.0, 0.15])  # stands for the world
    advisor = Advisor(SITE, seed=0)  # log="mission.log" would keep it all
    position, number = SITE.start, 0
    while position is not None:
        place = Station(jax.numpy.array(position), dwell=jax.numpy.array(5.0))
        counts = advisor.plan.model.sample_reading(jax.random.key(number), truth, place)
        advice = advisor.observe(position, counts, id=number)
        print(f"{number:2d}: {counts:6.0f} counts at ({position[0]:.0f}, {position[1]:.0f}). {advice.why}")
        position, number = advice.next_position, number + 1
    print(f"stopped: {advice.status}, the truth is (44, 29)")


if __name__ == "__main__":
    main()
