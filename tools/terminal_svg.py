#!/usr/bin/env python3
"""Draws a terminal session as SVG: terminal_svg.py < SESSION > FILE. Lines that begin with "$ " are what was typed."""

import html
import sys

COLUMN, LINE, MARGIN = 7.8, 18, 16
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
"""


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    width = 2 * MARGIN + COLUMN * max(map(len, lines))
    out = HEAD.format(width=width, height=2 * MARGIN + LINE * len(lines))
    for number, line in enumerate(lines):
        colour = "#7fd4a8" if line.startswith("$ ") else "#f2c97d" if "Insufficient" in line else "#d7dae0"
        out += f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 13}" fill="{colour}" xml:space="preserve">{html.escape(line)}</text>\n'
    sys.stdout.write(out + "</svg>\n")


if __name__ == "__main__":
    main()
