# The image of codeflare: one static program. `make docker-build` prepares the context (build/image/context).
FROM scratch
COPY . /
ENV PATH=/usr/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["/usr/bin/codeflare"]
