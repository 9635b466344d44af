"""Ray clusters with buttons, for notebooks."""

from __future__ import annotations

from typing import Any

from . import _show
from ._call import call
from ._cluster import Cluster, get_cluster
from .errors import CodeflareError


def view_clusters(namespace: str | None = None) -> None:
    """The Ray clusters of a namespace: with buttons where ipywidgets is installed, else as a table."""
    if _show.in_notebook():
        import importlib

        try:
            widgets = importlib.import_module("ipywidgets")
        except ImportError:
            pass
        else:
            _Viewer(widgets, namespace).show()
            return
    _show.details(call("cluster.list", namespace=namespace))


class _Viewer:
    """A row of clusters to choose from, its state, and buttons."""

    def __init__(self, widgets: Any, namespace: str | None) -> None:
        self._namespace = namespace
        self._choice = widgets.ToggleButtons(options=[], description="Cluster:")
        self._output = widgets.Output()
        actions = {"Delete Cluster": self._delete, "View Jobs": self._jobs, "Refresh Data": self._refresh}
        self._buttons = []
        for label, action in actions.items():
            button = widgets.Button(description=label)
            button.on_click(lambda _, action=action: self._run(action))
            self._buttons.append(button)
        self._box = widgets.VBox([self._choice, widgets.HBox(self._buttons), self._output])
        self._choice.observe(lambda _: self._run(self._status), names="value")

    def show(self) -> None:
        self._run(self._refresh)
        _show.ipython_display().display(self._box)

    def _run(self, action: Any) -> None:
        self._output.clear_output()
        with self._output:
            try:
                action()
            except CodeflareError as error:
                print(error)

    def _chosen(self) -> Cluster | None:
        name = self._choice.value
        return get_cluster(name, self._namespace) if name else None

    def _refresh(self) -> None:
        infos = call("cluster.list", namespace=self._namespace)
        self._choice.options = [info["name"] for info in infos]
        _show.details(infos)

    def _status(self) -> None:
        if cluster := self._chosen():
            cluster.details()

    def _delete(self) -> None:
        if cluster := self._chosen():
            cluster.down()
        self._refresh()

    def _jobs(self) -> None:
        if cluster := self._chosen():
            _show.jobs(cluster.list_jobs())
