"""Authentication, under the path of 0.12."""

from .._auth import (  # noqa: F401
    Authentication,
    KubeConfigFileAuthentication,
    KubeConfiguration,
    TokenAuthentication,
    config_check,
)
