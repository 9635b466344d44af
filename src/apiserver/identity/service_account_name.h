#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// system:serviceaccount:NS:NAME
std::string service_account_user_name(std::string_view ns, std::string_view name);
// Namespace and name out of it; nothing when it is another kind of user.
std::optional<std::pair<std::string, std::string>> parse_service_account_user_name(
    std::string_view user_name);
// The groups that every service account of the namespace is in, system:authenticated not among
// them.
std::vector<std::string> service_account_groups(std::string_view ns);

}  // namespace codeflare::apiserver
