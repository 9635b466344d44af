#include "controllers/admission/testing/admission_world.h"

#include "base/check.h"
#include "controllers/admission/embedded_admission.h"
#include "json/parse.h"
#include "json/write.h"
#include "net/http.h"

#include <utility>
#include <vector>

namespace codeflare::admission::testing {

namespace {

constexpr std::string_view kCrd = R"({"metadata":{"name":"appwrappers.workload.codeflare.dev"},
  "spec":{"group":"workload.codeflare.dev","scope":"Namespaced",
    "names":{"plural":"appwrappers","singular":"appwrapper","kind":"AppWrapper",
             "listKind":"AppWrapperList"},
    "versions":[{"name":"v1beta1","served":true,"storage":true,"subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

constexpr std::string_view kQuotaCrd = R"({"metadata":{"name":"quotasubtrees.quota.codeflare.dev"},
  "spec":{"group":"quota.codeflare.dev","scope":"Namespaced",
    "names":{"plural":"quotasubtrees","singular":"quotasubtree","kind":"QuotaSubtree",
             "listKind":"QuotaSubtreeList"},
    "versions":[{"name":"v1alpha1","served":true,"storage":true,
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

Task<Reply> exchange(net::HttpService& service, net::Request request) {
  Result<net::Response> response = co_await service.send(std::move(request));
  CHECK(response.has_value());
  Reply reply{.status = response->status};
  for (const net::Headers::Field& field : response->headers.fields()) {
    if (net::equal_ignoring_case(field.name, "Warning")) {
      reply.warnings.push_back(field.value);
    }
  }
  Result<std::string> text = co_await net::read_all(std::move(response->body), 16u << 20);
  reply.body = text ? *text : text.error().to_string();
  co_return reply;
}

std::vector<std::unique_ptr<apiserver::Admission>> built_in_rules(
    const apiserver::Authorizer& authorizer, const apiserver::Registry& registry,
    const apiserver::Store& store) {
  std::vector<std::unique_ptr<apiserver::Admission>> rules;
  rules.push_back(std::make_unique<EmbeddedAdmission>(authorizer, registry, store));
  return rules;
}

}  // namespace

std::string Reply::at(std::initializer_list<std::string_view> path) const {
  const Result<json::Document> parsed = json::parse(body);
  const json::Value* value = parsed ? parsed->root.get(path) : nullptr;
  return value == nullptr ? "absent" : json::to_text(*value);
}

std::string wrapper(std::string_view name, std::string_view api_version, std::string_view kind,
                    std::string_view meta, std::string_view item_meta) {
  std::string text = R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",)";
  text += R"("metadata":{)" + std::string(meta) + R"("name":")" + std::string(name) + R"("},)";
  text += R"("spec":{"resources":{"GenericItems":[{"generictemplate":{"apiVersion":")";
  text += std::string(api_version) + R"(","kind":")" + std::string(kind) + R"(","metadata":{)";
  text += std::string(item_meta) + R"("name":"item"}}}]}}})";
  return text;
}

AdmissionWorld::AdmissionWorld(bool built_in) {
  apiserver::ApiServer::Options options{.data_directory = "/data",
                                        .durability = apiserver::Durability::memory};
  if (built_in) {
    options.more_admission = built_in_rules;
  }
  auto started =
      run(sim_.env().loop, apiserver::ApiServer::start(sim_.env(), std::move(options),
                                                       log_.logger(sim_.env().clock), metrics_));
  CHECK(started.has_value() && started->has_value());
  server_ = *std::move(*started);
  CHECK(as("admin", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           std::string(kCrd))
            .status == 201);
  CHECK(as("admin", "POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status == 201);
}

AdmissionWorld::~AdmissionWorld() {
  CHECK(run(sim_.env().loop, server_->stop({})));
}

Reply AdmissionWorld::as(const std::string& user, std::string method, std::string_view target,
                         std::string body, std::string type) {
  net::Request request{.method = std::move(method), .target = std::string(target)};
  if (!body.empty()) {
    request.headers.set("Content-Type", std::move(type));
    request.body_size = body.size();
    request.body = net::body_of(std::move(body));
  }
  std::vector<std::string> groups;
  if (user == "admin") {
    groups.emplace_back("system:masters");
  }
  request.peer = std::make_shared<net::Peer>(
      net::Peer{.certificate = net::Peer::Certificate{user, groups, ""}});
  return *run(sim_.env().loop, exchange(server_->service(), std::move(request)));
}

Reply AdmissionWorld::patch(const std::string& user, std::string_view target, std::string body) {
  return as(user, "PATCH", target, std::move(body), "application/merge-patch+json");
}

void AdmissionWorld::let_ann_submit_config_maps() {
  const auto make = [&](std::string_view target, std::string body) {
    const Reply reply = as("admin", "POST", target, std::move(body));
    CHECK(reply.status == 201);
  };
  make("/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles",
       R"({"metadata":{"name":"maps"},
           "rules":[{"verbs":["*"],"apiGroups":[""],"resources":["configmaps"]},
                    {"verbs":["*"],"apiGroups":["workload.codeflare.dev"],
                     "resources":["appwrappers"]}]})");
  make("/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings",
       R"({"metadata":{"name":"ann"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
           "kind":"Role","name":"maps"},"subjects":[{"kind":"User","name":"ann",
           "apiGroup":"rbac.authorization.k8s.io"}]})");
}

void AdmissionWorld::make_quota_tree(std::string_view name) {
  const int kind = as("admin", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                      std::string(kQuotaCrd))
                       .status;
  CHECK(kind == 201 || kind == 409);
  const std::string named(name);
  CHECK(
      as("admin", "POST", "/apis/quota.codeflare.dev/v1alpha1/namespaces/team/quotasubtrees",
         R"({"apiVersion":"quota.codeflare.dev/v1alpha1","kind":"QuotaSubtree","metadata":{"name":")" +
             named + R"(","labels":{"tree":")" + named + R"("}},"spec":{}})")
          .status == 201);
}

}  // namespace codeflare::admission::testing
