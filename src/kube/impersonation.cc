#include "kube/impersonation.h"

#include "kube/internal/warnings.h"
#include "kube/path.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace codeflare::kube {

namespace {

// Header names hold few characters; the server undoes the percent-encoding.
std::string escape_header_key(std::string_view key) {
  constexpr std::string_view kToken =
      "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (char c : key) {
    if (kToken.contains(c)) {
      out += c;
    } else {
      auto byte = static_cast<std::uint8_t>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace

void add_impersonation(const Impersonation& impersonation, net::Headers& headers) {
  if (impersonation.empty() || headers.has("Impersonate-User")) {
    return;
  }
  headers.set("Impersonate-User", impersonation.user);
  if (!impersonation.uid.empty()) {
    headers.set("Impersonate-Uid", impersonation.uid);
  }
  for (const std::string& group : impersonation.groups) {
    headers.add("Impersonate-Group", group);
  }
  for (const auto& [key, values] : impersonation.extra) {
    for (const std::string& value : values) {
      headers.add("Impersonate-Extra-" + escape_header_key(key), value);
    }
  }
}

Task<Result<ObjectRef>> create_as(Client& client, Impersonation who, ResourceType type,
                                  std::string ns, std::string body) {
  CO_TRY_ASSIGN(std::string path, create_path(type, ns));
  const std::string& agent = client.options().user_agent;
  Query query;
  query.add_if_set("fieldManager", agent.substr(0, agent.find('/')));
  Client::RawRequest request{
      .method = "POST", .target = query.on(std::move(path)), .body = std::move(body)};
  add_impersonation(who, request.headers);
  CO_TRY_ASSIGN(const Client::RawResponse response, co_await client.raw(std::move(request)));
  Result<ObjectRef> made = Object::from_json(response.body);
  if (!made) {
    co_return fail(data_loss("the reply to creating a " + type.qualified_name() + ": " +
                             made.error().message));
  }
  co_return made;
}

Task<Result<std::vector<std::string>>> try_create_as(Client& client, Impersonation who,
                                                     ResourceType type, std::string ns,
                                                     std::string body) {
  CO_TRY_ASSIGN(std::string path, create_path(type, ns));
  Query query;
  query.add_if_set("dryRun", "All");
  query.add_if_set("fieldValidation", "Warn");
  Client::RawRequest request{
      .method = "POST", .target = query.on(std::move(path)), .body = std::move(body)};
  add_impersonation(who, request.headers);
  CO_TRY_ASSIGN(const Client::RawResponse response, co_await client.raw(std::move(request)));
  std::vector<std::string> warnings;
  for (const net::Headers::Field& field : response.headers.fields()) {
    if (net::equal_ignoring_case(field.name, "Warning")) {
      for (std::string& text : internal::warning_texts(field.value)) {
        warnings.push_back(std::move(text));
      }
    }
  }
  co_return warnings;
}

}  // namespace codeflare::kube
