#pragma once

#include "base/async/sleep.h"
#include "base/time.h"

#include <chrono>
#include <map>
#include <string>

namespace codeflare::kube::internal {

// Which API groups of one server do not stream initial events. By group, because groups may be
// served by other programs behind the same address; not indefinitely, because servers get upgraded.
class WatchListMemory {
 public:
  bool refused(const std::string& group, Instant now) const {
    auto at = until_.find(group);
    return at != until_.end() && now < at->second;
  }
  void refuse(const std::string& group, Instant now) {
    until_[group] = after(now, std::chrono::hours(1));
  }

 private:
  std::map<std::string, Instant> until_;
};

}  // namespace codeflare::kube::internal
