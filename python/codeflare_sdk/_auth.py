"""Connections of this process: a login, else the kubeconfig, else the pod's service account."""

from __future__ import annotations

import abc
import dataclasses
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


class Client:
    """A connection of its own: given as `api_client`, it is used instead of the login of this process."""

    def __init__(self, connection: dict[str, Any]) -> None:
        self.connection = connection

    def __repr__(self) -> str:
        return f"Client({self.connection.get('server') or self.connection.get('kubeconfig') or 'default kubeconfig'!r})"


@dataclasses.dataclass
class AuthConfig:
    """A way to log in, with the names of kube-authkit, whose own AuthConfig is accepted too.

    method: "auto" (token if given, else kubeconfig or service account), "kubeconfig", "incluster" or "openshift" (token)
    """

    method: str = "auto"
    k8s_api_host: str | None = None
    oidc_issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = dataclasses.field(default=None, repr=False)
    token: str | None = dataclasses.field(default=None, repr=False)
    scopes: list[str] = dataclasses.field(default_factory=lambda: ["openid"])
    use_device_flow: bool = False
    use_keyring: bool = False
    oidc_callback_port: int = 8080
    ca_cert: str | None = None
    verify_ssl: bool = True
    kubeconfig_path: str | None = None


def connection_for(auth: Any) -> dict[str, Any]:
    """The connection that an AuthConfig means, ours or one of the same shape."""
    from .errors import InvalidError

    method = getattr(auth, "method", None) or "auto"
    host, token = getattr(auth, "k8s_api_host", None), getattr(auth, "token", None)
    if method == "oidc":
        raise InvalidError(
            "method 'oidc' is not available", "invalid_argument",
            hint="use a kubeconfig whose user has an exec plugin for OIDC, with method='kubeconfig'",
        )
    if method not in ("auto", "kubeconfig", "incluster", "in_cluster", "openshift"):
        raise InvalidError(f"method {method!r} is unknown", "invalid_argument", hint="give auto, kubeconfig, incluster or openshift")
    if method == "openshift" or (method == "auto" and host and token):
        if not host or not token:
            raise InvalidError("method 'openshift' needs k8s_api_host and token", "invalid_argument", hint="give both")
        return _with_token(host, token, not getattr(auth, "verify_ssl", True), getattr(auth, "ca_cert", None))
    path = getattr(auth, "kubeconfig_path", None)
    return {"kubeconfig": os.path.expanduser(path)} if path else {}


def connection_of(client: Any) -> dict[str, Any] | None:
    """The connection of an `api_client`: ours, or an ApiClient of the Kubernetes client, recognised by its shape."""
    if client is None:
        return None
    if isinstance(client, Client):
        return client.connection
    configuration = getattr(client, "configuration", None)
    host = getattr(configuration, "host", None)
    if not isinstance(host, str):
        raise TypeError(f"api_client: {type(client).__name__} is neither a Client nor an ApiClient of the Kubernetes client")
    keys = getattr(configuration, "api_key", None) or {}
    token = str(keys.get("authorization") or keys.get("BearerToken") or "").removeprefix("Bearer ").strip()
    made = _with_token(host, token, not getattr(configuration, "verify_ssl", True), getattr(configuration, "ssl_ca_cert", None))
    for ours, theirs in (("cert_file", "cert_file"), ("key_file", "key_file")):
        if getattr(configuration, theirs, None):
            made[ours] = getattr(configuration, theirs)
    return made


def _with_token(server: str, token: str, insecure: bool, ca_file: str | None) -> dict[str, Any]:
    made: dict[str, Any] = {"server": server if "://" in server else "https://" + server, "token": token, "insecure": insecure}
    if ca_file and not insecure:
        made["ca_file"] = ca_file
    return made


def get_k8s_client(config: Any = None) -> Client:
    """A connection that an AuthConfig describes. A token is proved first."""
    from ._call import call

    made = connection_for(config if config is not None else AuthConfig())
    if made.get("token"):
        call("identity", connection=made)
    return Client(made)


def set_api_client(new_client: Any) -> None:
    """Uses this client for every later call of this process: ours, or an ApiClient of the Kubernetes client."""
    _set(connection_of(new_client))


def get_api_client() -> Client:
    """The connection that calls use."""
    return Client(connection())


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

        candidate = _with_token(self.server, self.token, self.skip_tls, self.ca_cert_path)
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
            raise InvalidError("kube_config_path: is missing", "invalid_argument", hint="give the path of a kubeconfig file")
        path = os.path.expanduser(self.kube_config_path)
        if not os.path.exists(path):
            raise NotFoundError(f"{path} is not a file", "not_found", object=path, hint="give the path of a kubeconfig file")
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
