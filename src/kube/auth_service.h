#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "kube/config.h"
#include "net/http.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace codeflare::kube {

// Credential that identifies the sender of a request. Immutable; a new one is a new object.
struct Credential {
  Secret authorization{};         // header value; empty: none
  std::string certificate_pem{};  // for the connection; empty: the one of the configuration, if any
  Secret key_pem{};
};
using CredentialRef = std::shared_ptr<const Credential>;

class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  // For the next request; waits when it has to be fetched.
  virtual Task<Result<CredentialRef>> get() = 0;
  // Whether get() can ever give another one than it gave first.
  virtual bool renewable() const = 0;
  // The server rejected `used`: unless it was replaced meanwhile, the next get() fetches a new one.
  virtual void refused(const CredentialRef& used) = 0;
};

struct CredentialOptions {
  // Exec plugins may ask questions there.
  bool stdin_is_terminal = false;
};

// The source that the configuration asks for.
std::unique_ptr<CredentialSource> make_credential_source(Env env, const Config& config,
                                                         CredentialOptions options = {});

// Where requests go out. connect.h makes new connections when the certificate changes.
class Transport {
 public:
  virtual ~Transport() = default;
  // The service stays usable while it is held, also after a change.
  virtual Task<Result<std::shared_ptr<net::HttpService>>> service_for(CredentialRef credential) = 0;
};

struct AuthOptions {
  Impersonation impersonation{};
  std::string user_agent = "codeflare";  // for requests that bring none
  // Put before every target: the path of the server's URL.
  std::string target_prefix{};
  // A body of at most this many bytes is kept until the answer is known.
  std::size_t replay_bytes_max = std::size_t{4} << 20;
};

// Adds the credentials, impersonation and User-Agent to each request. When the server answers 401
// and the credentials can be renewed they are, and the request is sent once more if its body could
// be kept. Requests that bring an Authorization header of their own go out with it, unretried.
class AuthService final : public net::HttpService {
 public:
  // Both must outlive the service and its tasks.
  AuthService(CredentialSource& source, Transport& transport, AuthOptions options = {})
      : source_(source), transport_(transport), options_(std::move(options)) {}

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  Task<Result<net::Response>> send_as(CredentialRef credential, net::Request request);

  CredentialSource& source_;
  Transport& transport_;
  AuthOptions options_;
};

}  // namespace codeflare::kube
