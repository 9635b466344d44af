"""Requests that no client should send, from a seed."""

import json

MAPS = "/api/v1/namespaces/default/configmaps"
JSON = "application/json"


def no_tls(chance):
    """Bytes for a port that expects a TLS handshake."""
    return chance.choice(
        [
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            chance.randbytes(chance.randrange(1, 400)),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(60),
            b"\x16\x03\x01\xff\xff" + chance.randbytes(200),
            b"\x80\x2e\x01\x00\x02",
        ]
    )


def no_http(chance):
    """Bytes inside TLS that are not an HTTP/1.1 request: the server answers and closes."""
    get = b"GET /api HTTP/1.1\r\n"
    post = b"POST " + MAPS.encode() + b" HTTP/1.1\r\nHost: x\r\n"
    return chance.choice(
        [
            b"\r\n\r\nGET\r\n\r\n",
            chance.randbytes(100).replace(b"\n", b"") + b"\r\n\r\n",
            b"GET /api HTTP/9.9\r\nHost: x\r\n\r\n",
            b"GET  /api HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /api\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
            get + b"\r\n",
            get + b"Host: x\r\nHost: y\r\n\r\n",
            get + b"Host: x\r\nno colon\r\n\r\n",
            get + b"Host: x\r\n folded: yes\r\n\r\n",
            get + b"Host: x\r\nName : value\r\n\r\n",
            get + b"Host: x\nX: y\r\n\r\n",
            get + b"Host: x\r\nX: " + b"x" * 80_000 + b"\r\n\r\n",
            get + b"Host: x\r\n" + b"X: y\r\n" * 2_000 + b"\r\n",
            get + b"Host: x\r\nExpect: a miracle\r\n\r\n",
            post + b"Content-Length: -1\r\n\r\n",
            post + b"Content-Length: 99999999999999999999999\r\n\r\n",
            post + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            post + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            post + b"Transfer-Encoding: gzip\r\n\r\n",
            post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
            post + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}",
        ]
    )


def no_api_call(chance):
    """(method, target, body, content type) of well-formed HTTP that is not an API call."""
    rubbish = chance.randbytes(chance.randrange(1, 300))
    good = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "good"}}
    return chance.choice(
        [
            ("POST", MAPS, rubbish, JSON),
            ("POST", MAPS, b"{" * 50_000, JSON),
            ("POST", MAPS, b"[" * 100_000 + b"]" * 100_000, JSON),
            ("POST", MAPS, b'{"metadata":{"name":"\xff\xfe"}}', JSON),
            ("POST", MAPS, b'{"metadata":{"name":"a"},"data":{"a":1e999}}', JSON),
            ("POST", MAPS, b'{"metadata":{"name":["a"]}}', JSON),
            ("POST", MAPS, json.dumps({**good, "kind": "Pod"}).encode(), JSON),
            ("POST", MAPS, json.dumps({**good, "metadata": {"name": "UPPER_" + "x" * 300}}).encode(), JSON),
            ("POST", MAPS, json.dumps(good).encode(), "application/x-riddle"),
            ("POST", MAPS, b"a: [1\nb: {", "application/yaml"),
            ("POST", MAPS, b"a: &a [*a, *a]\n" * 20, "application/yaml"),
            ("POST", MAPS, b"k8s\x00" + rubbish, "application/vnd.kubernetes.protobuf"),
            ("POST", MAPS + "?fieldValidation=maybe", json.dumps(good).encode(), JSON),
            ("POST", MAPS + "?dryRun=perhaps", json.dumps(good).encode(), JSON),
            ("PUT", MAPS + "/good", b"", JSON),
            ("PUT", MAPS + "/good", b"null", JSON),
            ("PATCH", MAPS + "/kube-root-ca.crt", rubbish, "application/json-patch+json"),
            ("PATCH", MAPS + "/kube-root-ca.crt", rubbish, "application/merge-patch+json"),
            ("PATCH", MAPS + "/kube-root-ca.crt", rubbish, "application/apply-patch+yaml"),
            ("PATCH", MAPS + "/kube-root-ca.crt", b'[{"op":"test","path":"/x/y/z","value":1}]', "application/json-patch+json"),
            ("PATCH", MAPS + "/kube-root-ca.crt", b"{}", JSON),
            ("GET", MAPS + "?labelSelector=" + "%21%28" * 50, None, None),
            ("GET", MAPS + "?fieldSelector=metadata.nothing%3Dx", None, None),
            ("GET", MAPS + "?limit=many", None, None),
            ("GET", MAPS + "?limit=1&continue=" + rubbish.hex(), None, None),
            ("GET", MAPS + "?resourceVersion=-5", None, None),
            ("GET", MAPS + "?watch=1&resourceVersion=now", None, None),
            ("GET", MAPS + "/%zz", None, None),
            ("GET", MAPS + "/..%2f..%2fsecrets", None, None),
            ("GET", "/apis/" + "a/" * 500, None, None),
            ("GET", "/" + "x" * 30_000, None, None),
            ("BREW", MAPS, None, None),
            ("DELETE", MAPS + "/good", b'{"propagationPolicy":"Sideways"}', JSON),
            ("DELETE", MAPS + "/good?gracePeriodSeconds=long", None, None),
            ("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", rubbish, JSON),
            ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", b"{}", JSON),
        ]
    )
