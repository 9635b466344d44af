#include "apiserver/housekeeping/housekeeping.h"

#include "apiserver/housekeeping/event_reaper.h"
#include "apiserver/housekeeping/garbage_collector.h"
#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/housekeeping/internal/worklist.h"
#include "apiserver/housekeeping/namespace_keeper.h"
#include "apiserver/registry/edit.h"
#include "base/async/task_group.h"
#include "base/async/when.h"
#include "json/write.h"

#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::size_t kQuotaWriters = 4;

std::string priority_class(std::string_view name, std::int64_t value,
                           std::string_view description) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().member("apiVersion", "scheduling.k8s.io/v1");
  writer.member("kind", "PriorityClass").key("metadata").begin_object();
  writer.member("name", name).end_object();
  writer.key("value").integer(value).member("description", description).end_object();
  return body;
}

void write_amounts(json::Writer& writer, const model::ResourceList& amounts) {
  writer.begin_object();
  for (const auto& [name, amount] : amounts) {
    writer.member(name, amount.to_string());
  }
  writer.end_object();
}

}  // namespace

HousekeepingRules::HousekeepingRules(Env env, Store& store, const Registry& registry)
    : namespaces_(store),
      pods_(store),
      limits_(store),
      addresses_(store, env.random),
      quota_(store, registry, [this](const std::string& ns, const std::string& name) {
        if (quota_changed_) {
          quota_changed_(ns, name);
        }
      }) {}

struct Housekeeping::Parts {
  Parts(Env env, Logger log, Store& store, const Registry& registry, HousekeepingRules& rules_in,
        net::HttpService& service, Options options_in)
      : options(std::move(options_in)),
        rules(rules_in),
        api(service),
        group(env.loop),
        garbage(env, group, log.with({{"part", "garbage-collector"}}), store, registry, service),
        namespaces(env, group, log.with({{"part", "namespaces"}}), store, registry, service,
                   options.ca_pem),
        events(env, group, log.with({{"part", "events"}}), store, service,
               options.event_time_to_live),
        certificates(env, group, log.with({{"part", "certificates"}}), store, service,
                     options.sign_client),
        quotas(env, group, log.with({{"part", "quota"}}), kQuotaWriters,
               [this](std::string key) { return write_quota(std::move(key)); }) {
    rules.quota_changed_ = [this](const std::string& ns, const std::string& name) {
      quotas.add(ns + "/" + name);
    };
    static_cast<void>(
        store.visit(store.collection("resourcequotas"), {}, [&](const ObjectPtr& object) {
          quotas.add(std::string(object->ns()) + "/" + std::string(object->name()));
          return true;
        }));
  }

  Task<Result<void>> write_quota(std::string key) {
    const std::size_t slash = key.find('/');
    const std::string ns = key.substr(0, slash);
    const std::string name = key.substr(slash + 1);
    const QuotaKeeper::Status* status = rules.quota_.status(ns, name);
    if (status == nullptr) {
      co_return Result<void>();
    }
    std::string patch;
    json::Writer writer(patch);
    writer.begin_object().key("status").begin_object().key("hard");
    write_amounts(writer, status->hard);
    writer.key("used");
    write_amounts(writer, status->used);
    writer.end_object().end_object();
    co_return co_await api.merge_patch(
        "/api/v1/namespaces/" + ns + "/resourcequotas/" + name + "/status", std::move(patch));
  }

  // Creates it unless it is there.
  Task<Result<void>> ensure(std::string collection, std::string body) {
    Result<json::Document> made = co_await api.call("POST", std::move(collection), std::move(body));
    if (!made && made.error().code != ErrorCode::already_exists) {
      co_return fail(std::move(made).error());
    }
    co_return Result<void>();
  }

  Task<Result<void>> ensure_service(std::uint16_t port) {
    const std::string services = "/api/v1/namespaces/default/services";
    const std::string ports =
        R"("ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":)" +
        std::to_string(port) + "}]";
    Result<json::Document> found = co_await api.call("GET", services + "/kubernetes", "");
    if (!found && found.error().code == ErrorCode::not_found) {
      co_return co_await ensure(
          services,
          R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","labels":)"
          R"({"component":"apiserver","provider":"kubernetes"}},"spec":{"clusterIP":"10.96.0.1",)" +
              ports + R"(,"type":"ClusterIP"}})");
    }
    CO_TRY_ASSIGN(json::Document service, std::move(found));
    const auto shown = items_at(object_at(service.root, "spec"), "ports");
    if (shown.size() == 1 && integer_at(shown[0], "targetPort") == port) {
      co_return Result<void>();
    }
    co_return co_await api.merge_patch(services + "/kubernetes", R"({"spec":{)" + ports + "}}");
  }

  // Address and port may be other ones than the last time.
  Task<Result<void>> put_slice(std::string address, std::uint16_t port) {
    const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    const std::string family = address.contains(':') ? "IPv6" : "IPv4";
    const std::string slice =
        R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":)"
        R"("kubernetes","labels":{"kubernetes.io/service-name":"kubernetes"}},"addressType":")" +
        family + R"(","endpoints":[{"addresses":[")" + address +
        R"("],"conditions":{"ready":true}}],"ports":[{"name":"https","port":)" +
        std::to_string(port) + R"(,"protocol":"TCP"}]})";
    Result<json::Document> updated = co_await api.call("PUT", slices + "/kubernetes", slice);
    if (!updated && updated.error().code == ErrorCode::not_found) {
      co_return co_await ensure(slices, slice);
    }
    CO_TRY(std::move(updated));
    co_return Result<void>();
  }

  Options options;
  HousekeepingRules& rules;
  internal::ApiCaller api;
  TaskGroup group;
  GarbageCollector garbage;
  NamespaceKeeper namespaces;
  EventReaper events;
  CertificateSigner certificates;
  internal::Worklist quotas;
};

Housekeeping::Housekeeping(Env env, Logger log, Store& store, const Registry& registry,
                           HousekeepingRules& rules, net::HttpService& api, Options options)
    : parts_(std::make_unique<Parts>(env, std::move(log), store, registry, rules, api,
                                     std::move(options))) {}

Housekeeping::~Housekeeping() = default;

Task<Result<void>> Housekeeping::bootstrap() {
  Parts& parts = *parts_;
  // All at once, so that they share a commit.
  std::vector<Task<Result<void>>> objects;
  for (const std::string ns : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    objects.push_back(parts.ensure(
        "/api/v1/namespaces",
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + ns + R"("}})"));
  }
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  objects.push_back(parts.ensure(
      classes, priority_class("system-cluster-critical", 2'000'000'000,
                              "For pods without which the cluster does not work, on any node.")));
  objects.push_back(
      parts.ensure(classes, priority_class("system-node-critical", 2'000'001'000,
                                           "For pods that must not be moved from their node.")));
  std::vector<Result<void>> results = co_await when_all(std::move(objects));
  for (Result<void>& result : results) {
    CO_TRY(std::move(result));
  }
  co_return Result<void>();
}

Task<Result<void>> Housekeeping::advertise(std::string address, std::uint16_t port) {
  Task<Result<void>> service = parts_->ensure_service(port);
  Task<Result<void>> slice = parts_->put_slice(std::move(address), port);
  auto [service_made, slice_made] = co_await when_both(std::move(service), std::move(slice));
  CO_TRY(std::move(service_made));
  co_return std::move(slice_made);
}

bool Housekeeping::idle() const {
  return parts_->garbage.idle() && parts_->namespaces.idle() && parts_->quotas.idle();
}

Task<void> Housekeeping::close() {
  parts_->rules.quota_changed_ = nullptr;
  co_await parts_->group.close();
}

}  // namespace codeflare::apiserver
