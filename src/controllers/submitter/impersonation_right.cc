#include "controllers/submitter/impersonation_right.h"

#include "json/parse.h"
#include "json/write.h"

#include <string>
#include <utility>

namespace codeflare::controllers {

namespace {

struct Part {
  const char* group;
  const char* resource;
  const char* subresource;
};

// Any key stands for all: rules can name them only one by one, or all together.
constexpr Part kParts[] = {{"", "users", ""},
                           {"", "groups", ""},
                           {"", "serviceaccounts", ""},
                           {"authentication.k8s.io", "uids", ""},
                           {"authentication.k8s.io", "userextras", "any"}};

Task<Result<bool>> may_impersonate(kube::Client& client, Part part) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object()
      .member("apiVersion", "authorization.k8s.io/v1")
      .member("kind", "SelfSubjectAccessReview")
      .key("spec")
      .begin_object()
      .key("resourceAttributes")
      .begin_object()
      .member("verb", "impersonate")
      .member("group", part.group)
      .member("resource", part.resource)
      .member_if_set("subresource", part.subresource)
      .end_object()
      .end_object()
      .end_object();
  CO_TRY_ASSIGN(
      kube::Client::RawResponse response,
      co_await client.raw({.method = "POST",
                           .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                           .body = std::move(body)}));
  CO_TRY_ASSIGN(const json::Document answer, json::parse(response.body));
  const json::Value* allowed = answer.root.get({"status", "allowed"});
  co_return allowed != nullptr && allowed->is_boolean() && allowed->as_bool();
}

}  // namespace

Task<Result<std::vector<std::string>>> missing_impersonation_rights(kube::Client& client) {
  std::vector<std::string> missing;
  for (const Part& part : kParts) {
    CO_TRY_ASSIGN(const bool allowed, co_await may_impersonate(client, part));
    if (!allowed) {
      missing.push_back(std::string(part.resource) + (*part.group == 0 ? "" : ".") + part.group);
    }
  }
  co_return missing;
}

}  // namespace codeflare::controllers
