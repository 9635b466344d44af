#pragma once

#include "base/result.h"
#include "kube/discovery.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::kube::internal {

// The resources of one group in one version.
struct DiscoveredVersion {
  std::string group;
  std::string version;
  bool stale = false;  // the server could not ask whoever serves it
  std::vector<ApiResource> resources;
};

// The answer of /api or /apis: everything at once, or only which versions there are to ask for.
struct DiscoveryRoot {
  bool aggregated = false;
  std::vector<DiscoveredVersion> versions;  // by preference within their group
};

// Entries that make no sense are left out: one odd extension server must not hide the others.
Result<DiscoveryRoot> parse_discovery_root(std::string_view body);

// An APIResourceList.
Result<std::vector<ApiResource>> parse_resource_list(std::string_view body, std::string_view group,
                                                     std::string_view version);

}  // namespace codeflare::kube::internal
