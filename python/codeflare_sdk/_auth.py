"""Connections of this process: a login, else the kubeconfig, else the pod's service account."""

from __future__ import annotations

import abc
import os
from typing import Any

_connection: dict[str, Any] | None = None
_logged_out = False


def connection() -> dict[str, Any]:
    """The connection that calls use."""
    if _logged_out:
        from . import errors

        raise errors.NotAllowedError(
            "logged out", "unauthenticated", hint="log in again with login(), or start a new session to use the kubeconfig"
        )
    return dict(_connection or {})


def _set(connection: dict[str, Any] | None, logged_out: bool = False) -> None:
    global _connection, _logged_out
    _connection, _logged_out = connection, logged_out


class Authentication(metaclass=abc.ABCMeta):
    """A way to log in and out."""

    @abc.abstractmethod
    def login(self) -> str: ...

    @abc.abstractmethod
    def logout(self) -> str: ...


class KubeConfiguration(metaclass=abc.ABCMeta):
    """A way to use a kubeconfig."""

    @abc.abstractmethod
    def load_kube_config(self) -> str: ...


class TokenAuthentication(Authentication):
    """Logs in with a token and a server.

    auth = TokenAuthentication(token="...", server="https://host:6443")
    auth.login()
    """

    def __init__(self, token: str, server: str, skip_tls: bool = False, ca_cert_path: str | None = None) -> None:
        self.token = token
        self.server = server
        self.skip_tls = skip_tls
        self.ca_cert_path = ca_cert_path or os.environ.get("CF_SDK_CA_CERT_PATH")

    def __repr__(self) -> str:
        return f"TokenAuthentication(server={self.server!r}, token=<redacted>)"

    def login(self) -> str:
        """Proves the token to the server, then uses it for every call of this process."""
        from ._call import call

        server = self.server if "://" in self.server else "https://" + self.server
        candidate = {"server": server, "token": self.token, "insecure": self.skip_tls}
        if self.ca_cert_path and not self.skip_tls:
            candidate["ca_file"] = self.ca_cert_path
        user = call("identity", connection=candidate)
        _set(candidate)
        return f"Logged into {self.server} as {user}" if user else f"Logged into {self.server}"

    def logout(self) -> str:
        """Ends the session: later calls fail until the next login."""
        _set(None, logged_out=True)
        return f"Successfully logged out of {self.server}"


class KubeConfigFileAuthentication(KubeConfiguration):
    """Uses a kubeconfig file of its own path."""

    def __init__(self, kube_config_path: str | None = None) -> None:
        self.kube_config_path = kube_config_path

    def load_kube_config(self) -> str:
        from ._call import call
        from .errors import InvalidError, NotFoundError

        if not self.kube_config_path:
            raise InvalidError("give the path of a kubeconfig file", "invalid_argument")
        path = os.path.expanduser(self.kube_config_path)
        if not os.path.exists(path):
            raise NotFoundError(f"there is no kubeconfig file {path}", "not_found", object=path)
        candidate = {"kubeconfig": path}
        call("namespace", connection=candidate)
        _set(candidate)
        return f"Loaded user config file at path {self.kube_config_path}"

    def logout(self) -> str:
        _set(None, logged_out=True)
        return f"Successfully logged out of {self.kube_config_path}"


def config_check() -> str | None:
    """The path of the kubeconfig that was loaded, if one was."""
    return (_connection or {}).get("kubeconfig")
