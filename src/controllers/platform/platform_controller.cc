#include "controllers/platform/platform_controller.h"

#include "controllers/platform/image_controller.h"
#include "controllers/status_patch.h"
#include "model/codec/platform.h"
#include "model/condition.h"
#include "model/resources.h"
#include "model/secret.h"
#include "platform/compile.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace codeflare::controllers::platform_kinds {

namespace {

using runtime::Action;
using runtime::Next;
using runtime::Plan;

const runtime::ResourceType kApplications = model::resource_type<model::Application>();
const runtime::ResourceType kDataSets = model::resource_type<model::DataSet>();
const runtime::ResourceType kSizes = model::resource_type<model::RunSizeConfiguration>();
const runtime::ResourceType kSecrets = model::resource_type<model::Secret>();

// A Secret that is missing may be made later; nobody tells us.
constexpr Duration kLookAgain = std::chrono::seconds(10);

template <typename T>
std::vector<T> all_of(const runtime::Store& store) {
  std::vector<T> items;
  for (const runtime::ObjectRef& object : store.list()) {
    if (Result<T> item = object->as<T>()) {
      items.push_back(*std::move(item));
    }
  }
  return items;
}

Plan write_status(const runtime::ResourceType& type, const Checked& observed,
                  const model::ReadyStatus& desired) {
  Plan plan;
  if (!(desired == observed.status)) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = type,
                            .key = observed.metadata.key(),
                            .body = status_patch(observed, desired),
                            .why = "the condition Ready is behind",
                            .write = {.subresource = "status"}});
  }
  return plan;
}

std::string source_of(const model::DataSet& data_set) {
  return data_set.spec.nfs   ? "Nfs"
         : data_set.spec.pvc ? "Claim"
         : data_set.spec.s3  ? "S3"
                             : "Inline";
}

// Both are read in the namespace of the Run. Where Runs of other namespaces may use the
// Application, the Secrets may be there alone.
std::vector<NamedSecret> secrets_of(const model::Application& application) {
  const model::ApplicationSpec& spec = application.spec;
  std::vector<NamedSecret> secrets;
  if (!spec.allowed_namespaces.empty()) {
    return secrets;
  }
  if (spec.repo_secret) {
    secrets.push_back({"spec.repoSecret", spec.repo_secret->name});
  }
  if (!spec.image_pull_secret.empty()) {
    secrets.push_back({"spec.imagePullSecret", spec.image_pull_secret});
  }
  return secrets;
}

std::vector<NamedSecret> secrets_of(const model::DataSet& data_set) {
  const auto& s3 = data_set.spec.s3;
  return s3 && s3->secret ? std::vector<NamedSecret>{{"spec.s3.secret", s3->secret->name}}
                          : std::vector<NamedSecret>();
}

}  // namespace

model::ReadyStatus ready_status(const Checked& checked, WallTime now) {
  model::ReadyStatus status = checked.status;
  model::Condition ready;
  ready.type = "Ready";
  ready.status = checked.problems.empty() ? "True" : "False";
  ready.reason = checked.problems.empty() ? checked.ready_reason : "Invalid";
  for (const platform::Problem& problem : checked.problems) {
    ready.message += (ready.message.empty() ? "" : "; ") + platform::to_string(problem);
  }
  ready.observed_generation = checked.metadata.generation;
  model::set_condition(status.conditions, ready, now);
  status.observed_generation = checked.metadata.generation;
  return status;
}

ReadyReconciler::ReadyReconciler(const runtime::ControllerContext& context,
                                 runtime::ResourceType type)
    : env_(context.env), client_(context.client), actor_(context.actor), type_(std::move(type)) {}

Task<Result<Next>> ReadyReconciler::reconcile(runtime::ObjectKey key) {
  CO_TRY(co_await actor_.ready(key));
  std::optional<Checked> checked = observe(key);
  if (!checked) {
    co_return Next::await_change();
  }
  CO_TRY_ASSIGN(std::vector<platform::Problem> missing,
                co_await missing_secrets(key.ns, checked->secrets));
  const bool all_there = missing.empty();
  std::ranges::move(missing, std::back_inserter(checked->problems));
  Plan plan = write_status(type_, *checked, ready_status(*checked, env_.clock.wall()));
  CO_TRY(co_await actor_.act(std::move(key), std::move(plan)));
  co_return all_there ? Next::await_change() : Next::after(kLookAgain);
}

Task<Result<std::vector<platform::Problem>>> ReadyReconciler::missing_secrets(
    std::string ns, std::vector<NamedSecret> secrets) {
  std::vector<platform::Problem> missing;
  for (const NamedSecret& secret : secrets) {
    const Result<kube::ObjectRef> found = co_await client_.get(kSecrets, {ns, secret.name});
    // Without the right to read it, nothing is known.
    if (found || found.error().code == ErrorCode::permission_denied) {
      continue;
    }
    if (found.error().code != ErrorCode::not_found) {
      co_return fail(found.error());
    }
    missing.push_back({.field = secret.field,
                       .text = "Secret " + ns + "/" + secret.name + " does not exist",
                       .missing = true});
  }
  co_return missing;
}

ApplicationReconciler::ApplicationReconciler(const runtime::ControllerContext& context)
    : ReadyReconciler(context, kApplications),
      applications_(context.subject.store()),
      data_sets_(context.cache.informer(kDataSets).store()),
      sizes_(context.cache.informer(kSizes).store()) {}

std::optional<Checked> ApplicationReconciler::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = applications_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;
  }
  const Result<model::Application> application = object->as<model::Application>();
  if (!application) {
    return std::nullopt;
  }
  return Checked{
      .metadata = application->metadata,
      .status = application->status,
      .problems = platform::check_application(*application, all_of<model::DataSet>(data_sets_),
                                              all_of<model::RunSizeConfiguration>(sizes_)),
      .ready_reason = "Valid",
      .secrets = secrets_of(*application)};
}

DataSetReconciler::DataSetReconciler(const runtime::ControllerContext& context)
    : ReadyReconciler(context, kDataSets), data_sets_(context.subject.store()) {}

std::optional<Checked> DataSetReconciler::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = data_sets_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;
  }
  const Result<model::DataSet> data_set = object->as<model::DataSet>();
  if (!data_set) {
    return std::nullopt;
  }
  return Checked{.metadata = data_set->metadata,
                 .status = data_set->status,
                 .problems = platform::check_data_set(*data_set),
                 .ready_reason = source_of(*data_set),
                 .secrets = secrets_of(*data_set)};
}

void add_platform_controllers(runtime::Manager& manager) {
  const runtime::Store& applications = manager.cache().informer(kApplications).store();
  const runtime::MapFunction to_all = [&applications](const kube::Object&,
                                                      std::vector<model::ObjectKey>& keys) {
    for (const runtime::ObjectRef& application : applications.list()) {
      keys.push_back(application->key());
    }
  };
  manager.controller("applications")
      .reconciles(kApplications)
      .watches(kDataSets, to_all)
      .watches(kSizes, to_all)
      .with<ApplicationReconciler>();
  manager.controller("datasets").reconciles(kDataSets).with<DataSetReconciler>();
  add_image_controller(manager);
}

}  // namespace codeflare::controllers::platform_kinds
