"""When to save. Pure."""

import math

DAY_SECONDS = 86400.0


def young_daly(cost_seconds, failure_seconds):
    """The interval that loses least: saving costs `cost_seconds`, something fails every `failure_seconds` on average."""
    return math.sqrt(2 * cost_seconds * failure_seconds)


class Interval:
    """`every`: seconds between saves, "auto" (by Young and Daly from the measured cost) or None (never)."""

    def __init__(self, every, now, mtbf_seconds=30 * DAY_SECONDS, least_seconds=1.0):
        if every is not None and every != "auto" and not float(every) >= 0:
            raise ValueError(f"save_every is {every!r}: use seconds, 'auto' or None")
        self.every, self.mtbf_seconds, self.least_seconds = every, mtbf_seconds, least_seconds
        self.cost_seconds = None
        self.last = now

    def seconds(self, world):
        if self.every is None:
            return math.inf
        if self.every != "auto":
            return float(self.every)
        if self.cost_seconds is None:
            return self.least_seconds  # the first save measures the cost
        return max(self.least_seconds, young_daly(self.cost_seconds, self.mtbf_seconds / max(1, world)))

    def due(self, now, world):
        return now - self.last >= self.seconds(world)

    def saved(self, now, cost_seconds):
        """The cost counts what training waited for."""
        self.last = now
        old = self.cost_seconds
        self.cost_seconds = cost_seconds if old is None else 0.7 * old + 0.3 * cost_seconds
