#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/submitter/submitter.h"
#include "kube/client.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::admission {

struct WebhookServerOptions {
  std::string listen;  // "0.0.0.0:9443"
  // Where its authority, certificate and keys are kept. Replicas share it (a mounted volume or
  // Secret), so that one caBundle verifies all of them, and each believes what another recorded.
  std::string directory;
  // A Secret "NAMESPACE/NAME" that all replicas share, made when it is missing. The configurations
  // are then a chart's, and only their caBundle is set. Empty: keys are in the directory alone.
  std::string secret{};
  // How the API server reaches it: "https://10.0.0.7:9443", or else the Service "NAMESPACE/NAME".
  std::string url{};
  std::string service{};
  // Of further Services that lead to it, "NAME.NAMESPACE.svc"; names of its certificate.
  std::vector<std::string> more_names{};
  bool legacy_group = false;
  // Another service on the same port, for paths below /apis/; outlives the server. Null: none.
  net::HttpService* apis = nullptr;
  std::string client_ca_pem{};  // with `apis`: by which client certificates are verified
  // An API server needs a few. Anybody may connect, and the controller needs descriptors itself.
  std::size_t connections_max = 512;
};

// The admission webhook for AppWrappers behind a socket, registered with the cluster.
class WebhookServer {
 public:
  static Task<Result<std::unique_ptr<WebhookServer>>> start(Env env, kube::Client& client,
                                                            WebhookServerOptions options,
                                                            Logger logger);
  ~WebhookServer();
  std::uint16_t port() const;
  // By which clients verify it.
  std::string authority_pem() const;
  // The mark of what it records.
  std::shared_ptr<const controllers::RecordSeal> seal() const;
  // Lets reviews under way finish.
  Task<void> stop();

 private:
  struct Parts;
  explicit WebhookServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::admission
