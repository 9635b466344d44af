"""Authentication, under the path of 0.40."""

from ..._auth import Authentication, KubeConfigFileAuthentication, KubeConfiguration, TokenAuthentication  # noqa: F401
