"""Client certificates were needed to reach Ray from outside. Requests pass the API server here, so none are."""

from __future__ import annotations

from typing import Any


def _not_needed(*_: Any, **__: Any) -> None:
    print("No client certificates are needed: requests to Ray pass the API server, which authenticates them.")


generate_tls_cert = export_env = generate_ca_cert = cleanup_tls_cert = refresh_tls_cert = _not_needed
