#include "controllers/view/front_proxy.h"

#include "apiserver/request/request_info.h"
#include "controllers/submitter/access_review.h"
#include "controllers/view/status_answer.h"
#include "controllers/view/view_api.h"
#include "json/parse.h"
#include "model/config_map.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::view {

namespace {

constexpr std::string_view kGroupPath = "/apis/view.codeflare.dev";
constexpr std::string_view kVersionPath = "/apis/view.codeflare.dev/v1alpha1";

// As /apis/GROUP/VERSION of any API server. Parents have no verbs, so that `kubectl get
// appwrappers` means those of the queue.
constexpr std::string_view kResources =
    R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"view.codeflare.dev/v1alpha1",)"
    R"("resources":[)"
    R"({"name":"appwrappers/explain","singularName":"","namespaced":true,"kind":"Explanation",)"
    R"("verbs":["get"]},)"
    R"({"name":"appwrappers/log","singularName":"","namespaced":true,"kind":"Explanation",)"
    R"("verbs":["get"]},)"
    R"({"name":"trainingjobs/explain","singularName":"","namespaced":true,"kind":"Explanation",)"
    R"("verbs":["get"]}]})";
constexpr std::string_view kGroupDocument =
    R"({"kind":"APIGroup","apiVersion":"v1","name":"view.codeflare.dev","versions":[)"
    R"({"groupVersion":"view.codeflare.dev/v1alpha1","version":"v1alpha1"}],"preferredVersion":)"
    R"({"groupVersion":"view.codeflare.dev/v1alpha1","version":"v1alpha1"}})";

std::vector<std::string> list_at(const kube::Object& map, std::string_view key) {
  std::vector<std::string> words;
  const Result<json::Document> list = json::parse(map.string_at({"data", key}));
  for (const json::Value& each :
       list ? std::as_const(list->root).items() : std::span<const json::Value>()) {
    if (each.is_string()) {
      words.emplace_back(each.as_string());
    }
  }
  return words;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool encoded =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    plain += encoded ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    i += encoded ? 2 : 0;
  }
  return plain;
}

bool starts_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         net::equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// The user that the headers name.
AccessQuestion asker_of(const net::Headers& headers, const FrontProxySettings& settings) {
  AccessQuestion question;
  for (const std::string& name : settings.user_headers) {
    if (question.user.empty()) {
      question.user = headers.get(name).value_or("");
    }
  }
  for (const net::Headers::Field& field : headers.fields()) {
    const auto is_field = [&](const std::string& name) {
      return net::equal_ignoring_case(name, field.name);
    };
    if (std::ranges::any_of(settings.group_headers, is_field)) {
      question.groups.push_back(field.value);
    }
    for (const std::string& prefix : settings.extra_prefixes) {
      if (starts_ignoring_case(field.name, prefix)) {
        std::string key = percent_decoded(std::string_view(field.name).substr(prefix.size()));
        std::ranges::transform(key, key.begin(), [](char c) {
          return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        question.extra[key].push_back(field.value);
      }
    }
  }
  return question;
}

bool is_front_proxy(const net::Request& request, const FrontProxySettings& settings) {
  if (settings.ca_pem.empty() || request.peer == nullptr || !request.peer->certificate) {
    return false;
  }
  const std::vector<std::string>& allowed = settings.allowed_names;
  return allowed.empty() ||
         std::ranges::find(allowed, request.peer->certificate->common_name) != allowed.end();
}

net::Response document(std::string_view text) {
  return net::make_response(200, "application/json", Bytes::from(std::string(text)));
}

}  // namespace

Task<Result<FrontProxySettings>> read_front_proxy(kube::Client& client) {
  CO_TRY_ASSIGN(const kube::ObjectRef map,
                co_await client.get(model::resource_type<model::ConfigMap>(),
                                    {"kube-system", "extension-apiserver-authentication"}));
  FrontProxySettings settings{
      .ca_pem = std::string(map->string_at({"data", "requestheader-client-ca-file"})),
      .allowed_names = list_at(*map, "requestheader-allowed-names"),
      .user_headers = list_at(*map, "requestheader-username-headers"),
      .group_headers = list_at(*map, "requestheader-group-headers"),
      .extra_prefixes = list_at(*map, "requestheader-extra-headers-prefix")};
  if (settings.ca_pem.empty() || settings.user_headers.empty()) {
    co_return fail(
        failed_precondition("the API server does not aggregate APIs: ConfigMap "
                            "kube-system/extension-apiserver-authentication has no "
                            "requestheader-client-ca-file"));
  }
  co_return settings;
}

Task<Result<net::Response>> FrontProxy::send(net::Request request) {
  Result<net::Response> response = co_await answer(std::move(request));
  if (!response && response.error().code != ErrorCode::cancelled) {
    co_return status_answer(response.error());
  }
  co_return response;
}

Task<Result<net::Response>> FrontProxy::answer(net::Request request) {
  AccessQuestion question = asker_of(request.headers, settings_);
  if (!is_front_proxy(request, settings_) || question.user.empty()) {
    co_return fail(unauthenticated("only the API server of the cluster may ask"));
  }
  CO_TRY_ASSIGN(const apiserver::RequestInfo info,
                apiserver::RequestInfo::parse(request.method, request.target));
  if (info.path == kVersionPath) {
    co_return document(kResources);
  }
  if (info.path == kGroupPath) {
    co_return document(kGroupDocument);
  }
  if (!info.is_resource || info.group != kGroup) {
    co_return fail(not_found("the server could not find the requested resource"));
  }
  question.verb = info.verb;
  question.group = info.group;
  question.version = info.version;
  question.resource = info.resource;
  question.subresource = info.subresource;
  question.ns = info.ns;
  question.name = info.name;
  const std::string what =
      info.resource + "/" + info.subresource + " of " + info.group + " in namespace " + info.ns;
  const std::string user = question.user;
  CO_TRY_ASSIGN(const bool allowed, co_await may(client_, std::move(question)));
  if (!allowed) {
    co_return fail(permission_denied("user " + user + " cannot get " + what));
  }
  co_return co_await view_.send({.method = request.method, .target = request.target});
}

}  // namespace codeflare::controllers::view
