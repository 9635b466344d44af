#pragma once

#include "base/env/env.h"
#include "base/posix.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"
#include "net/tls.h"
#include "net/url.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::net {

struct ClientOptions {
  TlsClientOptions tls;      // used when the scheme is https
  std::optional<Url> proxy;  // see proxy_for(); http://, https:// or socks5://
  // Makes the sockets of its connections, not blocking and not connected, in another network than
  // the machine's.
  std::function<Task<Result<FileDescriptor>>()> make_socket{};
  std::string user_agent = "codeflare";
  // Asks for gzip and decodes it; a request that names its own Accept-Encoding gets what it asked
  // for, undecoded.
  bool accept_gzip = false;

  Duration connect_timeout = std::chrono::seconds(30);  // with name look-up and TLS
  // From the request's last byte to the response's head; zero: none, the caller sets a deadline.
  Duration head_timeout = Duration::zero();
  std::size_t header_bytes_max = 64u << 10;

  std::size_t idle_connections_max = 25;
  Duration idle_timeout = std::chrono::seconds(90);
  // A peer that vanished is noticed by keepalive probes, and while sending by the last one.
  Duration keepalive_idle = std::chrono::seconds(15);
  int keepalive_probes = 3;
  Duration user_timeout = std::chrono::seconds(30);
};

// HTTP/1.1 to one endpoint, over as many connections as there are requests at a time, which are
// kept for later requests. Response bodies are read at the caller's pace; dropping one before its
// end closes its connection. Beside the codes of HttpService, a certificate that is not accepted is
// `failed_precondition`. Failures to connect say at which step (connect_error.h).
class HttpClient final : public HttpService {
 public:
  // Scheme, host and port of `endpoint` count; its path does not.
  static Result<std::unique_ptr<HttpClient>> create(Env env, Url endpoint, ClientOptions options);
  ~HttpClient() override;

  Task<Result<Response>> send(Request request) override;

  // Other credentials for new connections; idle connections are closed.
  Result<void> reload_tls(const TlsClientOptions& options);

  struct Counts {
    std::uint64_t connects = 0;
    std::size_t idle = 0;
  };
  Counts counts() const;

 private:
  struct Parts;
  explicit HttpClient(std::shared_ptr<Parts> parts);
  std::shared_ptr<Parts> parts_;
};

}  // namespace codeflare::net
