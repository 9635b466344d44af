#pragma once

#include "base/result.h"
#include "model/pod.h"
#include "node/wire/keeper_protocol.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace codeflare::node {

// The numbered devices of the node: who has which. Containers of one pod get theirs together and
// keep them until the pod is over.
class DevicePool {
 public:
  DevicePool(std::string resource, std::int32_t count)
      : resource_(std::move(resource)), count_(count) {}

  // The lowest free numbers for every container that asks; all or none. The same answer for a pod
  // that has its own already.
  Result<std::vector<DeviceGrant>> grant(const model::Pod& pod);
  // For a pod that was found running.
  void adopt(const std::string& uid, const std::vector<DeviceGrant>& grants);
  void release(const std::string& uid);

  bool has(const std::string& uid) const { return grants_.contains(uid); }
  std::size_t free() const { return static_cast<std::size_t>(count_) - taken_.size(); }

 private:
  std::string resource_;
  std::int32_t count_;
  std::map<std::string, std::vector<DeviceGrant>> grants_;  // by UID of the pod
  std::set<std::int32_t> taken_;
};

}  // namespace codeflare::node
