#include "apiserver/housekeeping/namespace_keeper.h"

#include "apiserver/registry/edit.h"
#include "base/check.h"
#include "base/time.h"
#include "json/parse.h"
#include "json/scan.h"
#include "json/write.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

namespace {

constexpr std::size_t kWorkers = 8;
constexpr std::string_view kAccount = "default";
constexpr std::string_view kRootCa = "kube-root-ca.crt";

void write_condition(json::Writer& writer, std::string_view type, bool value,
                     std::string_view reason, std::string_view message, std::string_view now) {
  writer.begin_object().member("type", type).member("status", value ? "True" : "False");
  writer.member("lastTransitionTime", now).member("reason", reason).member("message", message);
  writer.end_object();
}

void count_finalizers(const Object& object, std::map<std::string, std::size_t>& holders) {
  constexpr auto kPaths = std::to_array<std::string_view>({"metadata.finalizers"});
  std::array<std::string_view, 1> slices;
  // Most objects have none, and what has none is not parsed.
  if (!json::scan(object.json(), kPaths, slices) || slices[0].size() <= 2) {
    return;
  }
  const Result<json::Document> list = json::parse(slices[0]);
  if (!list || !list->root.is_array()) {
    return;
  }
  for (const json::Value& finalizer : list->root.items()) {
    if (finalizer.is_string()) {
      ++holders[std::string(finalizer.as_string())];
    }
  }
}

// In the same order every time, so that the same state reads the same.
std::string joined(std::vector<std::string> parts) {
  std::ranges::sort(parts);
  std::string text;
  for (const std::string& part : parts) {
    text.append(text.empty() ? "" : ", ").append(part);
  }
  return text;
}

}  // namespace

NamespaceKeeper::NamespaceKeeper(Env env, TaskGroup& group, Logger log, Store& store,
                                 const Registry& registry, net::HttpService& api,
                                 std::string ca_pem)
    : clock_(env.clock),
      store_(store),
      registry_(registry),
      api_(api),
      ca_pem_(std::move(ca_pem)),
      namespaces_(store.collection("namespaces")),
      accounts_(store.collection("serviceaccounts")),
      config_maps_(store.collection("configmaps")),
      work_(env, group, std::move(log), kWorkers,
            [this](std::string name) { return look_at(std::move(name)); }) {
  CHECK(store
            .visit(namespaces_, {},
                   [&](const ObjectPtr& object) {
                     work_.add(std::string(object->name()));
                     return true;
                   })
            .has_value());
  store.on_commit(
      [this](CollectionId collection, const Event& event) { changed(collection, event); });
}

void NamespaceKeeper::changed(CollectionId collection, const Event& event) {
  const Object& object = *event.object;
  if (collection == namespaces_) {
    if (event.op != Write::Op::remove) {
      work_.add(std::string(object.name()));
    }
    return;
  }
  if (object.ns().empty()) {
    return;
  }
  const bool furniture = (collection == accounts_ && object.name() == kAccount) ||
                         (collection == config_maps_ && object.name() == kRootCa);
  if (event.op == Write::Op::remove || furniture) {
    const ObjectPtr ns = store_.get(namespaces_, "", object.ns());
    if (ns != nullptr && (furniture || ns->is_being_deleted())) {
      work_.add(std::string(object.ns()));
    }
  }
}

Task<Result<void>> NamespaceKeeper::look_at(std::string name) {
  const ObjectPtr ns = store_.get(namespaces_, "", name);
  if (ns == nullptr) {
    co_return Result<void>();
  }
  Result<void> result = ns->is_being_deleted() ? co_await empty(ns) : co_await furnish(name);
  if (!result && result.error().code == ErrorCode::conflict) {
    work_.add(std::move(name));
    co_return Result<void>();
  }
  co_return result;
}

Task<Result<void>> NamespaceKeeper::furnish(std::string ns) {
  const std::string base = "/api/v1/namespaces/" + ns;
  if (store_.get(accounts_, ns, kAccount) == nullptr) {
    Result<json::Document> made = co_await api_.call(
        "POST", base + "/serviceaccounts",
        R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})");
    if (!made && made.error().code != ErrorCode::already_exists) {
      co_return fail(std::move(made).error());
    }
  }
  std::string body;
  json::Writer writer(body);
  writer.begin_object().member("apiVersion", "v1").member("kind", "ConfigMap");
  writer.key("metadata").begin_object().member("name", kRootCa);
  writer.key("annotations").begin_object();
  writer.member("kubernetes.io/description",
                "The certificate of the authority that signed the API server's certificate.");
  writer.end_object().end_object();
  writer.key("data").begin_object().member("ca.crt", ca_pem_).end_object().end_object();
  const ObjectPtr map = store_.get(config_maps_, ns, kRootCa);
  if (map == nullptr) {
    Result<json::Document> made = co_await api_.call("POST", base + "/configmaps", body);
    if (!made && made.error().code != ErrorCode::already_exists) {
      co_return fail(std::move(made).error());
    }
    co_return Result<void>();
  }
  const Result<json::Document> parsed = json::parse(map->text().view());
  CHECK(parsed.has_value());
  const json::Value& data = object_at(parsed->root, "data");
  if (data.size() != 1 || text_at(data, "ca.crt") != ca_pem_) {
    CO_TRY(co_await api_.call("PUT", base + "/configmaps/" + std::string(kRootCa), body));
  }
  co_return Result<void>();
}

Task<Result<void>> NamespaceKeeper::empty(ObjectPtr ns) {
  const std::string name(ns->name());
  // Writes sequenced before the namespace began to go may not be visible yet.
  co_await store_.settle();
  const ResourcePtr pods = registry_.find("", "pods");
  if (pods != nullptr) {
    CO_TRY(co_await empty_collection(pods, name));
    bool left = false;
    CO_TRY(store_.visit(pods->collection, {.ns = name}, [&](const ObjectPtr&) {
      left = true;
      return false;
    }));
    if (left) {
      // Objects that pods use stay until the pods have ended.
      co_return co_await write_status(ns, remaining(name));
    }
  }
  for (const ResourcePtr& resource : registry_.all()) {
    if (resource->namespaced && registry_.find(resource->collection) == resource) {
      CO_TRY(co_await empty_collection(resource, name));
    }
  }
  Remaining left = remaining(name);
  if (!left.objects.empty()) {
    co_return co_await write_status(ns, std::move(left));  // woken when something goes
  }
  const ObjectPtr now = store_.get(namespaces_, "", name);
  if (now == nullptr || now->uid() != ns->uid()) {
    co_return Result<void>();
  }
  co_return co_await finalize(now);
}

Task<Result<void>> NamespaceKeeper::empty_collection(ResourcePtr resource, std::string ns) {
  // Objects that are being deleted need no second request.
  std::vector<ObjectPtr> objects;
  CO_TRY(store_.visit(resource->collection, {.ns = ns}, [&](const ObjectPtr& object) {
    if (!object->is_being_deleted()) {
      objects.push_back(object);
    }
    return true;
  }));
  for (const ObjectPtr& object : objects) {
    CO_TRY(co_await api_.remove(internal::path_of(*resource, ns, object->name()),
                                std::string(object->uid()), "Background"));
  }
  co_return Result<void>();
}

NamespaceKeeper::Remaining NamespaceKeeper::remaining(std::string_view ns) const {
  std::vector<std::string> kinds;
  std::map<std::string, std::size_t> holders;  // by finalizer
  for (const ResourcePtr& resource : registry_.all()) {
    if (!resource->namespaced || registry_.find(resource->collection) != resource) {
      continue;
    }
    std::size_t count = 0;
    CHECK(store_
              .visit(resource->collection, {.ns = std::string(ns)},
                     [&](const ObjectPtr& object) {
                       ++count;
                       count_finalizers(*object, holders);
                       return true;
                     })
              .has_value());
    if (count > 0) {
      kinds.push_back(resource->plural + "." + resource->group + " has " + std::to_string(count) +
                      " resource instances");
    }
  }
  std::vector<std::string> finalizers;
  for (const auto& [name, count] : holders) {
    finalizers.push_back(name + " in " + std::to_string(count) + " resource instances");
  }
  return {joined(std::move(kinds)), joined(std::move(finalizers))};
}

Task<Result<void>> NamespaceKeeper::write_status(ObjectPtr ns, Remaining remaining) {
  const std::string now = to_rfc3339(clock_.wall());
  const std::string content = "Some resources are remaining: " + remaining.objects;
  const bool held = !remaining.finalizers.empty();
  const std::string finalizers =
      held ? "Some content in the namespace has finalizers remaining: " + remaining.finalizers
           : "All content-preserving finalizers finished";
  std::string body;
  json::Writer writer(body);
  writer.begin_object().key("status").begin_object().member("phase", "Terminating");
  writer.key("conditions").begin_array();
  write_condition(writer, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                  "All resources successfully discovered", now);
  write_condition(writer, "NamespaceDeletionGroupVersionParsingFailure", false,
                  "ParsedGroupVersions", "All legacy kube types successfully parsed", now);
  write_condition(writer, "NamespaceDeletionContentFailure", false, "ContentDeleted",
                  "All content successfully deleted, may be waiting on finalization", now);
  write_condition(writer, "NamespaceContentRemaining", true, "SomeResourcesRemain", content, now);
  write_condition(writer, "NamespaceFinalizersRemaining", held,
                  held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers", finalizers, now);
  writer.end_array().end_object().end_object();
  // An unchanged status is not written again.
  const Result<json::Document> parsed = json::parse(ns->text().view());
  CHECK(parsed.has_value());
  std::size_t known = 0;
  for (const json::Value& condition : items_at(object_at(parsed->root, "status"), "conditions")) {
    const std::string_view type = text_at(condition, "type");
    const std::string_view message = text_at(condition, "message");
    known += (type == "NamespaceContentRemaining" && message == content) ||
             (type == "NamespaceFinalizersRemaining" && message == finalizers);
  }
  if (known == 2) {
    co_return Result<void>();
  }
  co_return co_await api_.merge_patch("/api/v1/namespaces/" + std::string(ns->name()) + "/status",
                                      std::move(body));
}

Task<Result<void>> NamespaceKeeper::finalize(ObjectPtr ns) {
  Result<json::Document> parsed = json::parse(ns->text().view());
  CHECK(parsed.has_value());
  json::Value& spec = make_object(parsed->arena, parsed->root, "spec");
  json::Value kept = json::Value::array();
  for (const json::Value& finalizer : items_at(std::as_const(spec), "finalizers")) {
    if (finalizer.is_string() && finalizer.as_string() != "kubernetes") {
      kept.push_back(parsed->arena, finalizer);
    }
  }
  spec.set(parsed->arena, "finalizers", kept);
  Result<json::Document> answer =
      co_await api_.call("PUT", "/api/v1/namespaces/" + std::string(ns->name()) + "/finalize",
                         json::to_text(parsed->root));
  if (!answer && answer.error().code != ErrorCode::not_found) {
    co_return fail(std::move(answer).error());
  }
  co_return Result<void>();
}

}  // namespace codeflare::apiserver
