"""Programs of geodesy and climate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from tests.programs.case import Case

EARTH_RADIUS = 6371.0


def great_circle(lat1, lon1, lat2, lon2):
    """The distance of two points on the sphere, by the haversine formula."""
    p1, l1, p2, l2 = map(math.radians, (lat1, lon1, lat2, lon2))
    h = math.sin((p2 - p1) / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin((l2 - l1) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(min(1.0, math.sqrt(h)))


def route_length(stops):
    return sum(great_circle(*a, *b) for a, b in pairwise(stops))


@dataclass
class Box:
    """A layer of the ocean or the atmosphere of an energy balance model."""

    heat_capacity: float
    temperature: float = 0.0

    def warmed(self, flux, dt):
        return Box(self.heat_capacity, self.temperature + dt * flux / self.heat_capacity)


def two_box_climate(boxes, feedback, exchange, forcing):
    surface, deep = boxes
    worst = 0.0
    for f in forcing:
        down = exchange * (surface.temperature - deep.temperature)
        surface = surface.warmed(f - feedback * surface.temperature - down, 1.0)
        deep = deep.warmed(down, 1.0)
        worst = max(worst, surface.temperature)
    return worst + 0.1 * deep.temperature


PROGRAMS = [
    Case(route_length, ([(52.5, 13.4), (48.9, 2.4), (41.9, 12.5), (40.4, -3.7)],)),
    Case(two_box_climate, ([Box(8.0), Box(100.0)], 1.2, 0.7, [0.1, 0.5, 1.0, 2.0, 3.0, 2.5, 2.4])),
]  # fmt: skip
