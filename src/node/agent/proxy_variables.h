#pragma once

#include <string>
#include <vector>

namespace codeflare::node {

// Tells programs about the way out of the cluster, unless the container says something itself:
// http_proxy, https_proxy and no_proxy in both spellings.
void add_proxy_variables(std::vector<std::string>& environment, const std::string& proxy);

}  // namespace codeflare::node
