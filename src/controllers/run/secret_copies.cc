#include "controllers/run/secret_copies.h"

#include "model/codec/app_wrapper.h"
#include "model/codec/core.h"
#include "model/codec/platform.h"
#include "model/namespace.h"
#include "model/resources.h"
#include "model/secret.h"
#include "platform/names.h"

#include <chrono>
#include <utility>

namespace codeflare::controllers::runs {

namespace {

using runtime::Action;
using runtime::Next;

const runtime::ResourceType kRuns = model::resource_type<model::Run>();
const runtime::ResourceType kWrappers = model::resource_type<model::AppWrapper>();
const runtime::ResourceType kDataSets = model::resource_type<model::DataSet>();
const runtime::ResourceType kRepoSecrets = model::resource_type<model::PlatformRepoSecret>();
const runtime::ResourceType kNamespaces = model::resource_type<model::Namespace>();
const runtime::ResourceType kSecrets = model::resource_type<model::Secret>();

// A Secret that is missing may be made later; nobody tells us.
constexpr Duration kLookAgain = std::chrono::seconds(10);

template <typename T>
std::optional<T> read(const runtime::Store& store, const model::ObjectKey& key) {
  const runtime::ObjectRef object = store.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;
  }
  Result<T> value = object->as<T>();
  return value ? std::optional<T>(*std::move(value)) : std::nullopt;
}

std::string body_of(const model::AppWrapper& wrapper, const SecretCopy& what,
                    const model::Secret& source) {
  model::Secret copy;
  copy.metadata.name = what.to;
  const auto run = wrapper.metadata.labels.find(platform::kRunLabel);
  if (run != wrapper.metadata.labels.end()) {
    copy.metadata.labels.insert(*run);
  }
  model::OwnerReference owner;
  owner.api_version = model::ResourceTraits<model::AppWrapper>::api_version;
  owner.kind = model::ResourceTraits<model::AppWrapper>::kind;
  owner.name = wrapper.metadata.name;
  owner.uid = wrapper.metadata.uid;
  copy.metadata.owner_references.push_back(std::move(owner));
  for (const std::string& key : what.keys) {
    if (const auto found = source.data.find(key); found != source.data.end()) {
      copy.data.emplace(key, found->second);
    }
  }
  return model::to_json_text(copy);
}

}  // namespace

SecretCopies::SecretCopies(const runtime::ControllerContext& context)
    : client_(context.client),
      actor_(context.actor),
      runs_(context.subject.store()),
      wrappers_(context.cache.informer(kWrappers).store()),
      data_sets_(context.cache.informer(kDataSets).store()),
      repo_secrets_(context.cache.informer(kRepoSecrets).store()),
      namespaces_(context.cache.informer(kNamespaces).store()) {}

SecretSources SecretCopies::sources_for(const model::Run& run) const {
  SecretSources sources;
  sources.data_set = [this](const model::ObjectKey& key) {
    return read<model::DataSet>(data_sets_, key);
  };
  if (wants_repo_secret(run)) {
    for (const runtime::ObjectRef& object : repo_secrets_.list()) {
      if (Result<model::PlatformRepoSecret> each = object->as<model::PlatformRepoSecret>()) {
        sources.repo_secrets.push_back(*std::move(each));
      }
    }
    if (const auto ns = read<model::Namespace>(namespaces_, {"", run.metadata.ns})) {
      sources.namespace_labels = ns->metadata.labels;
    }
  }
  return sources;
}

Task<Result<Next>> SecretCopies::reconcile(runtime::ObjectKey key) {
  const std::optional<model::Run> run = read<model::Run>(runs_, key);
  if (!run || model::is_terminal(run->status)) {
    done_.erase(key);
    co_return Next::await_change();
  }
  const std::vector<SecretCopy> copies = secrets_of(*run, sources_for(*run));
  if (copies.empty()) {
    co_return Next::await_change();
  }
  const std::optional<model::AppWrapper> wrapper =
      read<model::AppWrapper>(wrappers_, {key.ns, run->status.app_wrapper});
  const auto* owner = wrapper ? model::controller_of(wrapper->metadata) : nullptr;
  if (owner == nullptr || owner->uid != run->metadata.uid) {
    co_return Next::await_change();
  }
  bool missing = false;
  for (const SecretCopy& each : copies) {
    const std::string mark = wrapper->metadata.uid + "/" + each.to;
    if (done_[key].contains(mark)) {
      continue;
    }
    CO_TRY_ASSIGN(const bool copied, co_await copy(*run, *wrapper, each));
    if (copied) {
      done_[key].insert(mark);
    }
    missing = missing || !copied;
  }
  co_return missing ? Next::after(kLookAgain) : Next::await_change();
}

// False: there is nothing to copy yet.
Task<Result<bool>> SecretCopies::copy(model::Run run, model::AppWrapper wrapper, SecretCopy what) {
  runtime::Plan plan;
  Result<kube::ObjectRef> object = co_await client_.get(kSecrets, what.from);
  if (!object && object.error().code != ErrorCode::not_found) {
    co_return fail(object.error());
  }
  const Result<model::Secret> source =
      object ? (*object)->as<model::Secret>() : Result<model::Secret>(fail(object.error()));
  if (!source) {
    plan.events.push_back({.warning = true,
                           .reason = "SecretMissing",
                           .message = "Secret " + what.from.ns + "/" + what.from.name +
                                      " does not exist; the pods of the Run wait for it"});
  } else {
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kSecrets,
                            .key = {run.metadata.ns, what.to},
                            .body = body_of(wrapper, what, *source),
                            .why = "pods of the run need the Secret",
                            .existing_is_fine = true});
  }
  const bool found = source.has_value();
  CO_TRY(co_await actor_.act(run.metadata.key(), std::move(plan)));
  co_return found;
}

void add_secret_copies(runtime::Manager& manager) {
  const runtime::Store& runs = manager.cache().informer(kRuns).store();
  const runtime::MapFunction to_all = [&runs](const kube::Object&,
                                              std::vector<model::ObjectKey>& keys) {
    for (const runtime::ObjectRef& run : runs.list()) {
      keys.push_back(run->key());
    }
  };
  manager.controller("run-secrets")
      .reconciles(kRuns)
      .owns(kWrappers)
      .watches(kRepoSecrets, to_all)
      .with<SecretCopies>();
}

}  // namespace codeflare::controllers::runs
