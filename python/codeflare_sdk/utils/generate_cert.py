"""Client certificates were needed to reach Ray from outside. Requests pass the API server here, so none are needed.

The functions of earlier versions exist and say so.
"""

from __future__ import annotations

from typing import Any


def _not_needed(*_: Any, **__: Any) -> None:
    print("No client certificates are needed: requests to Ray pass the API server, which authenticates them.")


generate_ca_cert = _not_needed
generate_tls_cert = _not_needed
export_env = _not_needed
cleanup_tls_cert = _not_needed
list_tls_certificates = _not_needed
cleanup_expired_certificates = _not_needed
cleanup_old_certificates = _not_needed
refresh_tls_cert = _not_needed
get_secret_name = _not_needed
