"""A certificate authority for one cluster, made with the openssl command: EC keys, because they take milliseconds."""

import base64
import json
import os
import subprocess
from pathlib import Path

from harness import HarnessError

DAYS = "3650"
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(*arguments):
    result = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        raise HarnessError(f"openssl {arguments[0]} failed: {result.stderr.strip()}")


class Authority:
    """Signs the certificates of one cluster; files are <name>.crt and <name>.key in `folder`."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(mode=0o700)
        # openssl's own configuration may add extensions; ours is complete.
        self.config = folder / "openssl.cnf"
        self.config.write_text("[req]\ndistinguished_name=dn\n[dn]\n")
        self._request("ca", "/CN=codeflare-tests", ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"])

    def crt(self, name):
        return self.folder / f"{name}.crt"

    def key(self, name):
        return self.folder / f"{name}.key"

    def _request(self, name, subject, extensions, signer=()):
        command = ["req", "-x509", "-config", self.config, *KEY, "-days", DAYS, "-subj", subject]
        command += ["-keyout", self.key(name), "-out", self.crt(name), *signer]
        for extension in extensions:
            command += ["-addext", extension]
        openssl(*command)
        os.chmod(self.key(name), 0o600)

    def _signed(self, name, subject, extensions):
        common = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature"]
        self._request(name, subject, common + extensions, ["-CA", self.crt("ca"), "-CAkey", self.key("ca")])

    def server(self, name, alternative_names):
        self._signed(name, f"/CN={name}", ["extendedKeyUsage=serverAuth", "subjectAltName=" + ",".join(alternative_names)])

    def client(self, name, user, group=None):
        """A client certificate: Kubernetes reads the user from CN and the groups from O."""
        self._signed(name, (f"/O={group}" if group else "") + f"/CN={user}", ["extendedKeyUsage=clientAuth"])

    def signing_key(self, name):
        """The key pair of service-account tokens."""
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key(name))
        os.chmod(self.key(name), 0o600)
        openssl("ec", "-in", self.key(name), "-pubout", "-out", self.folder / f"{name}.pub")

    def kubeconfig(self, path: Path, server, client):
        """A kubeconfig that needs no other file. JSON is YAML, so every reader takes it."""

        def embedded(file):
            return base64.b64encode(file.read_bytes()).decode()

        user = {"client-certificate-data": embedded(self.crt(client)), "client-key-data": embedded(self.key(client))}
        cluster = {"server": server, "certificate-authority-data": embedded(self.crt("ca"))}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "codeflare-tests", "cluster": cluster}],
            "users": [{"name": client, "user": user}],
            "contexts": [{"name": client, "context": {"cluster": "codeflare-tests", "user": client}}],
            "current-context": client,
        }
        path.touch(mode=0o600)
        path.write_text(json.dumps(config, indent=2) + "\n")
