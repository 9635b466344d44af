"""What people see: tables as the command line prints them, HTML in notebooks."""

from __future__ import annotations

import html
import sys
import time
from typing import Any

Data = dict[str, Any]

_COLUMNS = ("NAME", "NAMESPACE", "STATUS", "WORKERS", "CPUS", "MEMORY", "GPUS", "REASON")


def in_notebook() -> bool:
    """Whether the output goes to a notebook."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    instance = shell.get_ipython()
    return instance is not None and type(instance).__name__ == "ZMQInteractiveShell"


def row(info: Data) -> tuple[str, ...]:
    state = info["state"]
    workers = f"{state['workersReady']}/{state['workersWanted']}"
    return (
        info["name"], info["namespace"], state["status"], workers, info["cpus"], info["memory"], info["gpus"], state["reason"] or "-"
    )


def table(rows: list[tuple[str, ...]]) -> str:
    """Columns as wide as they have to be."""
    lines = [_COLUMNS, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_COLUMNS))]
    return "\n".join("   ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def html_table(rows: list[tuple[str, ...]]) -> str:
    def cells(line: tuple[str, ...], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line)

    body = "".join(f"<tr>{cells(line, 'td')}</tr>" for line in rows)
    return f"<table><tr>{cells(_COLUMNS, 'th')}</tr>{body}</table>"


def text(line: str) -> None:
    """One line for people."""
    if in_notebook():
        _display(f"<p>{html.escape(line)}</p>")
    else:
        print(line)


def _display(markup: str) -> None:
    from IPython.display import HTML, display  # type: ignore[import-not-found,import-untyped,unused-ignore]

    display(HTML(markup))


def _rows(infos: list[Data], empty: str) -> None:
    if not infos:
        text(empty)
    elif in_notebook():
        _display(html_table([row(info) for info in infos]))
    else:
        print(table([row(info) for info in infos]))


def status(info: Data) -> None:
    _rows([info], "")
    if info["state"]["message"]:
        text(info["state"]["line"])
    if info["state"]["status"] == "Ready":
        text(f"URI: {info['clientUri']}")


def details(infos: list[Data]) -> None:
    _rows(infos, "No Ray clusters found")
    for info in infos:
        text(f"{info['name']}: image {info['image']}, URI {info['clientUri']}")


def queue(infos: list[Data]) -> None:
    _rows(infos, "No Ray clusters are queued")
    for info in infos:
        if info["state"]["message"]:
            text(f"{info['name']}: {info['state']['message']}")


class Progress:
    """One line that follows a wait: rewritten on a terminal and in a notebook, else a line for each change."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._started = time.monotonic()
        self._handle: Any = None
        self._terminal = sys.stderr.isatty()
        self._shown = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal and self._shown and self._handle is None:
            sys.stderr.write("\r\x1b[K")

    def show(self, line: str) -> None:
        if line == self._shown:
            return
        self._shown = line
        seconds = int(time.monotonic() - self._started)
        whole = f"{self._what}: {line} ({seconds}s)"
        if in_notebook():
            self._update(f"<p>{html.escape(whole)}</p>")
        elif self._terminal:
            sys.stderr.write(f"\r\x1b[K{whole}")
            sys.stderr.flush()
        else:
            print(f"{time.strftime('%H:%M:%S')} {whole}", file=sys.stderr)

    def _update(self, markup: str) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found,import-untyped,unused-ignore]

        if self._handle is None:
            self._handle = display(HTML(markup), display_id=True)
        else:
            self._handle.update(HTML(markup))
