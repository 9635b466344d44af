#pragma once

#include <string>

namespace codeflare::net {

// How a client checks the server and shows who it is itself. TLS 1.2 or newer is spoken.
struct TlsClientOptions {
  std::string ca_bundle_pem;    // empty: the system's roots
  std::string certificate_pem;  // client certificate with its chain; empty: none
  std::string key_pem;
  // Name to ask for and to verify instead of the host that is connected to.
  std::string server_name;
  bool insecure = false;  // verifies nothing
};

struct TlsServerOptions {
  std::string certificate_pem;  // with its chain
  std::string key_pem;
  // When set, clients are asked for a certificate. One that this bundle does not verify is let in
  // with Peer::foreign_certificate, so that the service can answer 401.
  std::string client_ca_pem;
};

}  // namespace codeflare::net
