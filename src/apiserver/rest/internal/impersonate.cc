#include "apiserver/rest/internal/impersonate.h"

#include "apiserver/rest/internal/errors.h"
#include "net/url.h"

#include <algorithm>

namespace codeflare::apiserver::internal {
namespace {

constexpr std::string_view kExtraPrefix = "impersonate-extra-";
constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

Result<void> allowed(const User& user, const Authorizer& authorizer, Access access) {
  access.verb = "impersonate";
  Authorizer::Decision decision = authorizer.authorize(user, access);
  if (!decision.allowed) {
    return fail(forbidden_error(user, access, decision.reason));
  }
  return {};
}

// "system:serviceaccount:NS:NAME" → NS, NAME.
std::optional<std::pair<std::string, std::string>> service_account(std::string_view name) {
  if (!name.starts_with(kServiceAccountPrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kServiceAccountPrefix.size());
  const std::size_t colon = name.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == name.size()) {
    return std::nullopt;
  }
  return std::pair(std::string(name.substr(0, colon)), std::string(name.substr(colon + 1)));
}

struct Asked {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  bool any = false;
};

Result<Asked> read_headers(const net::Headers& headers) {
  Asked asked;
  for (const net::Headers::Field& field : headers.fields()) {
    const std::string name = lower(field.name);
    if (!name.starts_with("impersonate-")) {
      continue;
    }
    asked.any = true;
    if (name == "impersonate-user") {
      asked.name = field.value;
    } else if (name == "impersonate-group") {
      asked.groups.push_back(field.value);
    } else if (name == "impersonate-uid") {
      asked.uid = field.value;
    } else if (name.starts_with(kExtraPrefix)) {
      TRY_ASSIGN(std::string key, net::percent_decode(name.substr(kExtraPrefix.size())));
      asked.extra[key].push_back(field.value);
    }
  }
  return asked;
}

Result<void> check_user(const User& user, const Authorizer& authorizer, const Asked& asked) {
  if (auto account = service_account(asked.name)) {
    return allowed(
        user, authorizer,
        {.verb = {}, .resource = "serviceaccounts", .ns = account->first, .name = account->second});
  }
  return allowed(user, authorizer, {.verb = {}, .resource = "users", .name = asked.name});
}

}  // namespace

Result<User> impersonated(const User& user, const net::Headers& headers,
                          const Authorizer& authorizer) {
  TRY_ASSIGN(Asked asked, read_headers(headers));
  if (!asked.any) {
    return user;
  }
  if (asked.name.empty()) {
    return fail(bad_request("requested groups, uid or extra without impersonating a user"));
  }
  TRY(check_user(user, authorizer, asked));
  for (const std::string& group : asked.groups) {
    TRY(allowed(user, authorizer, {.verb = {}, .resource = "groups", .name = group}));
  }
  if (!asked.uid.empty()) {
    TRY(allowed(
        user, authorizer,
        {.verb = {}, .group = "authentication.k8s.io", .resource = "uids", .name = asked.uid}));
  }
  for (const auto& [key, values] : asked.extra) {
    for (const std::string& value : values) {
      TRY(allowed(user, authorizer,
                  {.verb = {},
                   .group = "authentication.k8s.io",
                   .resource = "userextras",
                   .subresource = key,
                   .name = value}));
    }
  }
  User result{.name = asked.name,
              .uid = asked.uid,
              .groups = std::move(asked.groups),
              .extra = std::move(asked.extra)};
  if (auto account = service_account(result.name); account && result.groups.empty()) {
    result.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account->first};
  }
  auto add_group = [&](const char* group) {
    if (std::ranges::find(result.groups, group) == result.groups.end()) {
      result.groups.emplace_back(group);
    }
  };
  add_group(result.name == "system:anonymous" ? "system:unauthenticated" : "system:authenticated");
  return result;
}

}  // namespace codeflare::apiserver::internal
