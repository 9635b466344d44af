#include "controllers/platform/platform_controller.h"

#include "controllers/platform/image_controller.h"
#include "controllers/status_patch.h"
#include "model/codec/platform.h"
#include "model/condition.h"
#include "model/resources.h"
#include "platform/compile.h"

#include <utility>

namespace codeflare::controllers::platform_kinds {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kApplications = model::resource_type<model::Application>();
const runtime::ResourceType kDataSets = model::resource_type<model::DataSet>();
const runtime::ResourceType kSizes = model::resource_type<model::RunSizeConfiguration>();

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

ApplicationReconciler::ApplicationReconciler(const runtime::ControllerContext& context)
    : StoryReconciler(context.env, context.actor),
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
      .ready_reason = "Valid"};
}

model::ReadyStatus ApplicationReconciler::desired(const Checked& observed, WallTime now) const {
  return ready_status(observed, now);
}

Plan ApplicationReconciler::diff(const Checked& observed, const model::ReadyStatus& desired) const {
  return write_status(kApplications, observed, desired);
}

DataSetReconciler::DataSetReconciler(const runtime::ControllerContext& context)
    : StoryReconciler(context.env, context.actor), data_sets_(context.subject.store()) {}

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
                 .ready_reason = source_of(*data_set)};
}

model::ReadyStatus DataSetReconciler::desired(const Checked& observed, WallTime now) const {
  return ready_status(observed, now);
}

Plan DataSetReconciler::diff(const Checked& observed, const model::ReadyStatus& desired) const {
  return write_status(kDataSets, observed, desired);
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
