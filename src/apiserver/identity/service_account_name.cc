#include "apiserver/identity/service_account_name.h"

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kPrefix = "system:serviceaccount:";

}  // namespace

std::string service_account_user_name(std::string_view ns, std::string_view name) {
  return std::string(kPrefix).append(ns).append(1, ':').append(name);
}

std::optional<std::pair<std::string, std::string>> parse_service_account_user_name(
    std::string_view user_name) {
  if (!user_name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  user_name.remove_prefix(kPrefix.size());
  std::size_t colon = user_name.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == user_name.size() ||
      user_name.find(':', colon + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return std::pair(std::string(user_name.substr(0, colon)),
                   std::string(user_name.substr(colon + 1)));
}

std::vector<std::string> service_account_groups(std::string_view ns) {
  return {"system:serviceaccounts", "system:serviceaccounts:" + std::string(ns)};
}

}  // namespace codeflare::apiserver
