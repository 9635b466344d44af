"""The administrator of a test's API server, as its kubeconfig has them: where the server is and how to speak TLS with it."""

import base64
import pathlib
import re
import ssl
import urllib.parse

FIELDS = ("certificate-authority-data", "client-certificate-data", "client-key-data")


def read_admin(kubeconfig, folder):
    """The server's address, split, and a TLS context; certificates, which ssl takes from files only, go to `folder`."""
    text = pathlib.Path(kubeconfig).read_text()
    files = {}
    for field in FIELDS:
        files[field] = folder / field
        files[field].touch(mode=0o600)
        # YAML of ours or JSON of the tests.
        files[field].write_bytes(base64.b64decode(re.search(field + r'"?:\s*"?([A-Za-z0-9+/=]+)', text)[1]))
    authority, certificate, key = files.values()
    # Without the authorities of the system: reading those takes long.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cafile=authority)
    context.load_cert_chain(certificate, key)
    return urllib.parse.urlsplit(re.search(r'https://[^\s"]+', text)[0]), context
