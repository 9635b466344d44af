#include "elastic/kubernetes_store.h"

#include "elastic/internal/state_watch.h"
#include "json/write.h"

#include <chrono>
#include <utility>

namespace codeflare::elastic {

namespace {

using internal::Sighting;
using std::chrono::seconds;

const model::ResourceType& type_of(const StoreKey& key) {
  return key.kind == StoreKey::Kind::membership ? training_jobs() : leases();
}

Result<Sighting> sighting_of(const StoreKey& key, const kube::Object& object) {
  TRY_ASSIGN(const json::Document document, object.parse());
  const json::Value& root = document.root;
  Sighting seen{.entry = {.value = {}, .version = std::string(object.resource_version())}};
  if (key.kind == StoreKey::Kind::membership) {
    if (const json::Value* membership = root.get({"status", "membership"});
        membership != nullptr && membership->is_object()) {
      seen.entry.value = json::to_text(*membership);
    }
    return seen;
  }
  const bool member = key.kind == StoreKey::Kind::member;
  if (const json::Value* value =
          root.get({"metadata", "annotations", member ? kMemberAnnotation : kRoundAnnotation});
      value != nullptr && value->is_string()) {
    seen.entry.value = std::string(value->as_string());
  }
  const json::Value* spec = root.find("spec");
  if (member && spec != nullptr) {
    seen.renewed = spec->string_or_empty("renewTime");
    const json::Value* duration = spec->find("leaseDurationSeconds");
    seen.ttl = seconds(duration == nullptr ? 0 : duration->to_int64().value_or(0));
  }
  return seen;
}

}  // namespace

const model::ResourceType& training_jobs() {
  static const model::ResourceType kType{"breezeml.ai", "v1", "TrainingJob", "trainingjobs", true};
  return kType;
}

const model::ResourceType& leases() {
  static const model::ResourceType kType{"coordination.k8s.io", "v1", "Lease", "leases", true};
  return kType;
}

std::string member_name(std::string_view job, std::int32_t index) {
  return std::string(job) + "-worker-" + std::to_string(index);
}

std::string round_name(std::string_view job) {
  return std::string(job) + "-round";
}

class KubernetesStore::Watch final : public internal::StateWatch {
 public:
  Watch(const KubernetesStore& store, StoreKey key)
      : StateWatch(store.client_.env(), key),
        client_(store.client_),
        at_{store.options_.ns, store.name_of(key)} {}

 protected:
  Task<Result<Sighting>> read() override {
    CO_TRY_ASSIGN(const kube::ObjectRef object, co_await client_.get(type_of(key()), at_));
    rv_ = object->resource_version();
    co_return sighting_of(key(), *object);
  }

  Task<Result<void>> open() override {
    CO_TRY_ASSIGN(stream_, co_await client_.watch(type_of(key()),
                                                  {.ns = at_.ns,
                                                   .field_selector = "metadata.name=" + at_.name,
                                                   .resource_version = rv_,
                                                   .bookmarks = false,
                                                   .timeout = seconds(60)}));
    co_return Result<void>();
  }

  Task<Result<std::optional<Sighting>>> follow() override {
    CO_TRY_ASSIGN(const std::optional<kube::WatchEvent> event, co_await stream_->next());
    if (!event || event->object == nullptr) {
      co_return std::optional<Sighting>();
    }
    if (event->type == kube::WatchEvent::Type::deleted) {
      co_return std::optional(Sighting{});
    }
    CO_TRY_ASSIGN(Sighting seen, sighting_of(key(), *event->object));
    co_return std::optional(std::move(seen));
  }

  void close() override { stream_.reset(); }

 private:
  kube::Client& client_;
  model::ObjectKey at_;
  std::string rv_;
  std::unique_ptr<kube::WatchStream> stream_;
};

KubernetesStore::KubernetesStore(kube::Client& client, KubernetesStoreOptions options)
    : client_(client), options_(std::move(options)) {}

std::string KubernetesStore::name_of(const StoreKey& key) const {
  switch (key.kind) {
    case StoreKey::Kind::membership:
      return options_.job;
    case StoreKey::Kind::member:
      return member_name(options_.job, key.index);
    case StoreKey::Kind::round:
      return round_name(options_.job);
  }
  return {};
}

Task<Result<StoreEntry>> KubernetesStore::get(StoreKey key) {
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await client_.get(type_of(key), {options_.ns, name_of(key)}));
  CO_TRY_ASSIGN(Sighting seen, sighting_of(key, *object));
  // Without a history there is only the calendar to judge by.
  if (seen.ttl > Duration::zero()) {
    const Result<WallTime> renewed = parse_rfc3339(seen.renewed);
    if (!renewed || *renewed + seen.ttl <= client_.env().clock.wall()) {
      seen.entry.value.reset();
    }
  }
  co_return std::move(seen.entry);
}

std::unique_ptr<StoreWatch> KubernetesStore::watch(StoreKey key) {
  return std::make_unique<Watch>(*this, key);
}

Task<Result<void>> KubernetesStore::put(StoreKey key, std::string value, Duration ttl) {
  std::string patch;
  json::Writer writer(patch);
  writer.begin_object().key("metadata").begin_object().key("annotations").begin_object();
  writer.member(kMemberAnnotation, value).end_object().end_object();
  writer.key("spec").begin_object().member("holderIdentity", options_.holder);
  writer.member("renewTime", to_rfc3339(client_.env().clock.wall(), 6));
  writer.key("leaseDurationSeconds").integer(std::chrono::duration_cast<seconds>(ttl).count());
  writer.end_object().end_object();
  CO_TRY(co_await client_.patch(leases(), {options_.ns, name_of(key)}, kube::PatchKind::merge,
                                std::move(patch)));
  co_return Result<void>();
}

Task<Result<void>> KubernetesStore::swap(StoreKey key, std::string value, std::string version) {
  const bool membership = key.kind == StoreKey::Kind::membership;
  std::string patch;
  json::Writer writer(patch);
  writer.begin_object().key("metadata").begin_object().member("resourceVersion", version);
  if (membership) {
    writer.end_object().key("status").begin_object().key("membership").raw(value).end_object();
  } else {
    writer.key("annotations").begin_object().member(kRoundAnnotation, value);
    writer.end_object().end_object();
  }
  writer.end_object();
  CO_TRY(co_await client_.patch(type_of(key), {options_.ns, name_of(key)}, kube::PatchKind::merge,
                                std::move(patch), {.subresource = membership ? "status" : ""}));
  co_return Result<void>();
}

}  // namespace codeflare::elastic
