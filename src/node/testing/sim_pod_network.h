#pragma once

#include "node/agent/pod_network.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::node::testing {

// A pod network without pods: gives addresses 10.244.0.2, .3, ... and remembers its calls.
class SimPodNetwork final : public PodNetwork {
 public:
  std::string holder() const override { return "holder.sock"; }
  std::string nameserver() const override { return "10.244.0.1"; }
  std::string way_out() const override { return {}; }
  std::optional<std::string> address_of(const std::string& uid) const override {
    const auto found = pods_.find(uid);
    return found == pods_.end() ? std::nullopt : std::optional(found->second.address);
  }
  Task<Result<std::string>> attach(PodRecord pod) override {
    if (!failure_.empty()) {
      co_return fail(resource_exhausted(failure_));
    }
    if (const auto known = pods_.find(pod.uid); known != pods_.end()) {
      co_return known->second.address;
    }
    pod.address = "10.244.0." + std::to_string(next_++);
    pods_.emplace(pod.uid, pod);
    co_return pod.address;
  }
  Task<Result<void>> detach(std::string uid) override {
    pods_.erase(uid);
    co_return Result<void>();
  }
  Task<Result<void>> keep(std::vector<std::string> uids) override {
    if (!failure_.empty()) {
      co_return fail(failed_precondition(failure_));
    }
    std::erase_if(pods_, [&](const auto& entry) {
      return std::find(uids.begin(), uids.end(), entry.first) == uids.end();
    });
    co_return Result<void>();
  }
  Task<Result<void>> set_service(ServiceRecord service) override {
    services_.insert_or_assign(service.ns + "/" + service.name, service);
    co_return Result<void>();
  }
  Task<Result<void>> forget_service(std::string key) override {
    services_.erase(key);
    co_return Result<void>();
  }
  Task<Result<void>> keep_services(std::vector<std::string> keys) override {
    std::erase_if(services_, [&](const auto& entry) {
      return std::find(keys.begin(), keys.end(), entry.first) == keys.end();
    });
    co_return Result<void>();
  }
  Task<Result<FileDescriptor>> socket(std::string /*uid*/) override {
    co_return fail(unsupported("there are no sockets in a simulation"));
  }
  Task<Result<FileDescriptor>> listen(std::string /*address*/, std::uint16_t /*port*/) override {
    co_return fail(unsupported("there are no sockets in a simulation"));
  }
  Task<void> shutdown() override { co_return; }

  // The error of attach() and keep() from now on; empty: they work again.
  void fail_with(std::string failure) { failure_ = std::move(failure); }
  const std::map<std::string, PodRecord>& pods() const { return pods_; }
  const std::map<std::string, ServiceRecord>& services() const { return services_; }

 private:
  std::string failure_;
  int next_ = 2;
  std::map<std::string, PodRecord> pods_;
  std::map<std::string, ServiceRecord> services_;
};

}  // namespace codeflare::node::testing
