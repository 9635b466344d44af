#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

inline constexpr std::string_view kAdminGroup = "system:masters";

// The user of a request.
struct User {
  std::string name;
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  bool is_admin() const;  // in system:masters: no rule is asked
};

}  // namespace codeflare::apiserver
