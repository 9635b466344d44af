"""How a number looks in a table."""

import math
import os
import sys

# For one measurement; what takes longer is said to.
PATIENCE_SECONDS = 900


def say(text):
    print(f"bench mcad: {text}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def number(value):
    if value is None:
        return ""
    if math.isinf(value):
        return f"more than {PATIENCE_SECONDS}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def row(what, first, second):
    ratio = f"{second / first:.3g}" if first and second and not math.isinf(first) else ""
    print(f"| {what} | {number(first)} | {number(second)} | {ratio} |", flush=True)
