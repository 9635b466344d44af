"""Output for people: tables as the command line prints them, HTML in notebooks."""

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


def ipython_display() -> Any:
    """IPython's own ways to show something; only inside a notebook."""
    import importlib

    return importlib.import_module("IPython.display")


def row(info: Data) -> tuple[str, ...]:
    state = info["state"]
    workers = f"{state['workersReady']}/{state['workersWanted']}"
    return (
        info["name"], info["namespace"], state["status"], workers, info["cpus"], info["memory"], info["gpus"], state["reason"] or "-"
    )


def table(columns: tuple[str, ...], rows: list[Any]) -> str:
    """Columns as wide as they have to be."""
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join("   ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def html_table(columns: tuple[str, ...], rows: list[Any]) -> str:
    """The same for notebooks. Every cell is text: markup of others is shown, not obeyed."""

    def cells(line: Any, tag: str) -> str:
        return "".join(f'<{tag} style="text-align:left">{html.escape(cell)}</{tag}>' for cell in line)

    body = "".join(f"<tr>{cells(line, 'td')}</tr>" for line in rows)
    return f"<table><tr>{cells(columns, 'th')}</tr>{body}</table>"


def time_text(milliseconds: int | None) -> str:
    """A point in time, in the local zone."""
    return "-" if milliseconds is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(milliseconds / 1000))


def took_text(start: int | None, end: int | None) -> str:
    """How long it has taken so far, or took."""
    if start is None:
        return "-"
    seconds = max(0, (end if end is not None else int(time.time() * 1000)) - start) // 1000
    return f"{seconds}s" if seconds < 120 else f"{seconds // 60}m{seconds % 60:02}s"


def text(line: str) -> None:
    """One line for people."""
    if in_notebook():
        _display(f"<p>{html.escape(line)}</p>")
    else:
        print(line)


def _display(markup: str) -> None:
    notebook = ipython_display()
    notebook.display(notebook.HTML(markup))


def _rows(infos: list[Data], empty: str) -> None:
    if not infos:
        text(empty)
    elif in_notebook():
        _display(html_table(_COLUMNS, [row(info) for info in infos]))
    else:
        print(table(_COLUMNS, [row(info) for info in infos]))


def jobs(found: Any) -> None:
    """A JobList."""
    if in_notebook():
        _display(found._repr_html_())
    else:
        print(found.table())


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


def explanation(told: Any) -> None:
    """An Explanation, a fact a line."""
    text(": ".join(part for part in (f"{told.name} {told.state}", told.reason, told.message) if part))
    if told.position:
        text(f"Position in the queue: {told.position}")
    for holder in told.holders:
        text(f"Resources in use by: {holder}")
    for advice in told.advice:
        text(f"To start it now: {advice}")
    if told.estimated_start or told.estimate_note:
        note = f" ({told.estimate_note})" if told.estimated_start and told.estimate_note else told.estimate_note
        text(f"Estimated start: {told.estimated_start}{note}" if told.estimated_start else f"Estimated start: unknown: {note}")
    if told.paused:
        text("The queue is paused")
    if told.problem:
        text(f"The controller did not answer: {told.problem}")


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
        notebook = ipython_display()
        if self._handle is None:
            self._handle = notebook.display(notebook.HTML(markup), display_id=True)
        else:
            self._handle.update(notebook.HTML(markup))
