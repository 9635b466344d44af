#pragma once

#include "base/env/env.h"
#include "base/time.h"
#include "runtime/informer.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace codeflare::controllers::trainingjob {

// Nodes that are not ready, and since when by our own clock, kept in step with an informer.
class UnreadyNodes {
 public:
  // `changed` gets a node that became ready or stopped being ready.
  UnreadyNodes(Clock& clock, runtime::Informer& nodes,
               std::function<void(const std::string& node)> changed);

  // Nothing: it is ready, or unknown. Nodes that are deleted take their pods along.
  std::optional<Duration> unready_for(const std::string& node) const;

 private:
  void change(const runtime::ObjectChange& change);

  Clock& clock_;
  std::function<void(const std::string& node)> changed_;
  std::map<std::string, Instant, std::less<>> since_;
};

}  // namespace codeflare::controllers::trainingjob
