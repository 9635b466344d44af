"""Calls of `_core` with Python's own data."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from . import _auth, _core, errors

Data = dict[str, Any]


def call(
    what: str, /, observer: Callable[[Any], None] | None = None, stopped: Callable[[], bool] | None = None, **arguments: Any
) -> Any:
    """Calls by name under the current login. Arguments that are None are not given. Ends when stopped() is true."""
    given = {key: value for key, value in arguments.items() if value is not None}
    if "connection" not in given:
        given["connection"] = _auth.connection()
    told = None if observer is None else lambda text: observer(json.loads(text))
    try:
        return json.loads(_core.call(what, json.dumps(given, default=_plain), told, stopped))
    except _core.CallError as error:
        raise errors.from_call(*error.args) from None


def _plain(value: Any) -> Any:
    """Objects of the Kubernetes client (V1Toleration, V1Volume ...), by their shape, as the API writes them."""
    types = getattr(value, "openapi_types", None)
    names = getattr(value, "attribute_map", None)
    if types is not None and names is not None:
        fields = {names[key]: getattr(value, key) for key in types}
        return {key: field for key, field in fields.items() if field is not None}
    raise TypeError(f"{type(value).__name__} is neither plain data nor an object of the Kubernetes client")
