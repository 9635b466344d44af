"""Client certificates, under the path of 0.40."""

from ...utils.generate_cert import (
    cleanup_expired_certificates,
    cleanup_old_certificates,
    cleanup_tls_cert,
    export_env,
    generate_ca_cert,
    generate_tls_cert,
    get_secret_name,
    list_tls_certificates,
    refresh_tls_cert,
)

__all__ = [
    "cleanup_expired_certificates",
    "cleanup_old_certificates",
    "cleanup_tls_cert",
    "export_env",
    "generate_ca_cert",
    "generate_tls_cert",
    "get_secret_name",
    "list_tls_certificates",
    "refresh_tls_cert",
]
