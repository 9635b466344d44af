#include "node/agent/device_pool.h"

#include "model/pod_requests.h"

namespace codeflare::node {

namespace {

std::int64_t asked(const model::Container& container, const std::string& resource) {
  const model::Quantity* limit = container.resources.limits.find(resource);
  return limit != nullptr ? limit->value() : container.resources.requests.get(resource).value();
}

}  // namespace

Result<std::vector<DeviceGrant>> DevicePool::grant(const model::Pod& pod) {
  if (const auto known = grants_.find(pod.metadata.uid); known != grants_.end()) {
    return known->second;
  }
  std::set<std::int32_t> taken = taken_;
  std::vector<DeviceGrant> grants;
  const auto give = [&](const model::Container& container, std::set<std::int32_t>& from) {
    DeviceGrant grant{.container = container.name, .resource = resource_};
    std::int64_t left = asked(container, resource_);
    for (std::int32_t id = 0; id < count_ && left > 0; ++id) {
      if (from.insert(id).second) {
        grant.ids.push_back(id);
        --left;
      }
    }
    if (!grant.ids.empty()) {
      grants.push_back(std::move(grant));
    }
    return left <= 0;
  };
  bool enough = true;
  for (const model::Container& container : pod.spec.init_containers) {
    if (model::is_sidecar(container)) {
      enough = give(container, taken) && enough;
    }
  }
  const std::set<std::int32_t> beside_inits = taken;
  for (const model::Container& container : pod.spec.containers) {
    enough = give(container, taken) && enough;
  }
  // Init containers have ended before the others begin: they share their devices.
  std::set<std::int32_t> all = taken;
  for (const model::Container& container : pod.spec.init_containers) {
    if (!model::is_sidecar(container)) {
      std::set<std::int32_t> own = beside_inits;
      enough = give(container, own) && enough;
      all.insert(own.begin(), own.end());
    }
  }
  if (!enough) {
    return fail(resource_exhausted(
        "Pod was rejected: Allocate failed due to requested number of "
        "devices unavailable for " +
        resource_ + ", available: " + std::to_string(free()) + ", which is unexpected"));
  }
  taken_ = std::move(all);
  grants_[pod.metadata.uid] = grants;
  return grants;
}

void DevicePool::adopt(const std::string& uid, const std::vector<DeviceGrant>& grants) {
  grants_[uid] = grants;
  for (const DeviceGrant& grant : grants) {
    taken_.insert(grant.ids.begin(), grant.ids.end());
  }
}

void DevicePool::release(const std::string& uid) {
  const auto found = grants_.find(uid);
  if (found == grants_.end()) {
    return;
  }
  grants_.erase(found);
  taken_.clear();
  for (const auto& [other, grants] : grants_) {
    for (const DeviceGrant& grant : grants) {
      taken_.insert(grant.ids.begin(), grant.ids.end());
    }
  }
}

}  // namespace codeflare::node
