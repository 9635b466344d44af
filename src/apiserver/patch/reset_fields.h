#pragma once

#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// One endpoint of a resource.
struct Endpoint {
  std::string_view group;
  std::string_view plural;
  std::string_view subresource{};
  bool has_status = false;  // the resource has a /status
};

// Fields that the endpoint always takes from the stored object: ManagerId::reset_fields.
std::vector<std::string_view> reset_fields(const Endpoint& endpoint);

}  // namespace codeflare::apiserver
