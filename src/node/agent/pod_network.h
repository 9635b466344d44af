#pragma once

#include "base/async/task.h"
#include "base/posix.h"
#include "base/result.h"
#include "node/wire/holder_protocol.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::node {

// Where pods have addresses of their own: what the agent asks of the holder. Pods are named by UID,
// services by "NAMESPACE/NAME". Loop-bound.
class PodNetwork {
 public:
  virtual ~PodNetwork() = default;

  // The socket that keepers ask for the network of their pod.
  virtual std::string holder() const = 0;
  virtual std::string nameserver() const = 0;

  // The HTTP proxy by which pods reach the world outside; empty: there is no way.
  virtual std::string way_out() const = 0;

  // Nothing when the pod has no network.
  virtual std::optional<std::string> address_of(const std::string& uid) const = 0;
  // Gives the pod a network, or finds that it has one; returns its address. The record's own
  // address is not looked at.
  virtual Task<Result<std::string>> attach(PodRecord pod) = 0;
  // Fine when it has none.
  virtual Task<Result<void>> detach(std::string uid) = 0;
  // All others are gone.
  virtual Task<Result<void>> keep(std::vector<std::string> uids) = 0;

  virtual Task<Result<void>> set_service(ServiceRecord service) = 0;
  virtual Task<Result<void>> forget_service(std::string key) = 0;
  virtual Task<Result<void>> keep_services(std::vector<std::string> keys) = 0;

  // A TCP socket, not connected and not blocking, in the network of the pod, where 127.0.0.1 is the
  // pod itself; with an empty UID in the one that reaches all pods and services.
  virtual Task<Result<FileDescriptor>> socket(std::string uid) = 0;
  // A listening one that pods reach.
  virtual Task<Result<FileDescriptor>> listen(std::string address, std::uint16_t port) = 0;

  // Nothing runs any more: ends all networks. Addresses stay assigned.
  virtual Task<void> shutdown() = 0;
};

}  // namespace codeflare::node
