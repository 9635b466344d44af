#include "controllers/run/run_controller.h"

#include "controllers/pods_type.h"
#include "controllers/run/run_metrics.h"
#include "controllers/run/secret_copies.h"
#include "controllers/status_patch.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/core.h"
#include "model/codec/platform.h"
#include "model/namespace.h"
#include "model/resources.h"
#include "platform/names.h"
#include "runtime/map_function.h"
#include "sdk/program_image.h"

#include <memory>
#include <set>
#include <utility>

namespace codeflare::controllers::runs {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kRuns = model::resource_type<model::Run>();
const runtime::ResourceType kWrappers = model::resource_type<model::AppWrapper>();
const runtime::ResourceType kApplications = model::resource_type<model::Application>();
const runtime::ResourceType kDataSets = model::resource_type<model::DataSet>();
const runtime::ResourceType kSizes = model::resource_type<model::RunSizeConfiguration>();
const runtime::ResourceType kPolicies = model::resource_type<model::RunPolicy>();
const runtime::ResourceType kNamespaces = model::resource_type<model::Namespace>();

constexpr int kWorkers = 16;

// The Runs that may still be compiled: a change of what they refer to wakes them.
class WaitingRuns {
 public:
  explicit WaitingRuns(runtime::Informer& runs) {
    runs.add_handler([this](const runtime::ObjectChange& change) {
      if (change.old != nullptr) {
        keys_.erase(change.old->key());
      }
      if (change.now != nullptr && change.now->string_at({"status", "appWrapper"}).empty()) {
        keys_.insert(change.now->key());
      }
    });
  }
  const std::set<model::ObjectKey>& keys() const { return keys_; }

 private:
  std::set<model::ObjectKey> keys_;
};

platform::CompileOptions options_of(const Variables& variables) {
  platform::CompileOptions options{.program_image = sdk::program_image(variables)};
  if (const std::string image = variables.get("CODEFLARE_GIT_IMAGE").value_or(""); !image.empty()) {
    options.git_image = image;
  }
  return options;
}

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

bool gives_up(const model::Run& run, const Desired& desired) {
  return !model::is_terminal(run.status) && desired.status.reason == kAppWrapperDeleted;
}

}  // namespace

RunReconciler::RunReconciler(const runtime::ControllerContext& context,
                             std::shared_ptr<ProgressFollowers> followers,
                             platform::CompileOptions options)
    : RunActorHolder{RunActor(context.actor, context.client, context.subject.store())},
      StoryReconciler(context.env, actor),
      runs_(context.subject.store()),
      wrappers_(context.cache.informer(kWrappers).store()),
      applications_(context.cache.informer(kApplications).store()),
      data_sets_(context.cache.informer(kDataSets).store()),
      sizes_(context.cache.informer(kSizes).store()),
      policies_(context.cache.informer(kPolicies).store()),
      namespaces_(context.cache.informer(kNamespaces).store()),
      pods_(context.cache.informer(kPods), read_run_pod),
      followers_(std::move(followers)),
      options_(std::move(options)) {
  followers_->wakes([waker = context.waker](const model::ObjectKey& run) { waker.wake(run); });
}

std::optional<Observed> RunReconciler::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = runs_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;  // its AppWrapper goes with it
  }
  Result<model::Run> run = object->as<model::Run>();
  if (!run) {
    return std::nullopt;  // the definition does not admit it
  }
  Observed observed{.input = {.run = *std::move(run)},
                    .wrapper = {},
                    .pods = {},
                    .progress = {},
                    .options = options_};
  const runtime::ObjectRef wrapper =
      wrappers_.get(key.ns, platform::wrapper_name(observed.run().metadata));
  if (wrapper != nullptr) {
    if (Result<model::AppWrapper> made = wrapper->as<model::AppWrapper>()) {
      observed.wrapper = *std::move(made);
    }
  }
  observed.pods = pods_.of(key);
  // The last write of a Run is made anyway and need not wait for the pace of progress.
  const std::string& uid = observed.run().metadata.uid;
  const bool over = model::is_terminal(observed.run().status) ||
                    (observed.wrapper && model::is_terminal(observed.wrapper->status));
  observed.progress = over ? followers_->last(uid) : followers_->published(uid);
  if (!model::is_terminal(observed.run().status)) {
    gather(observed.input);
  }
  return observed;
}

void RunReconciler::gather(platform::CompileInput& input) const {
  const model::ObjectKey key = platform::application_of(input.run);
  if (const runtime::ObjectRef object = applications_.get(key)) {
    if (Result<model::Application> application = object->as<model::Application>()) {
      input.application = *std::move(application);
    }
  }
  if (input.application) {
    for (const model::ObjectKey& each : platform::data_sets_of(*input.application, input.run)) {
      const runtime::ObjectRef object = data_sets_.get(each);
      Result<model::DataSet> data_set =
          object == nullptr ? Result<model::DataSet>(fail(not_found(each.to_string())))
                            : object->as<model::DataSet>();
      if (data_set) {
        input.data_sets.push_back(*std::move(data_set));
      }
    }
  }
  input.sizes = all_of<model::RunSizeConfiguration>(sizes_);
  input.policies = all_of<model::RunPolicy>(policies_);
  if (const runtime::ObjectRef object = namespaces_.get("", input.run.metadata.ns)) {
    if (const Result<model::Namespace> ns = object->as<model::Namespace>()) {
      input.namespace_labels = ns->metadata.labels;
    }
  }
}

Desired RunReconciler::desired(const Observed& observed, WallTime now) const {
  return runs::decide(observed, now);
}

Plan RunReconciler::diff(const Observed& observed, const Desired& desired) const {
  Plan plan;
  const model::Run& run = observed.run();
  if (desired.remove_run) {
    plan.actions.push_back(
        {.verb = Action::Verb::remove,
         .type = kRuns,
         .key = run.metadata.key(),
         .why = "its time after the end is up",
         .removal = {.propagation_policy = "Background", .uid = run.metadata.uid}});
    return plan;
  }
  if (desired.create) {
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kWrappers,
                            .key = {run.metadata.ns, ""},
                            .body = model::to_json_text(*desired.create),
                            .why = "the run has no AppWrapper"});
  }
  if (desired.remove_wrapper) {
    plan.actions.push_back(
        {.verb = Action::Verb::remove,
         .type = kWrappers,
         .key = observed.wrapper->metadata.key(),
         .why = "the run is cancelled",
         .removal = {.propagation_policy = "Background", .uid = observed.wrapper->metadata.uid}});
  }
  if (!desired.wrapper_patch.empty()) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kWrappers,
                            .key = observed.wrapper->metadata.key(),
                            .body = desired.wrapper_patch,
                            .why = "suspend or priority of the run changed"});
  }
  if (!(desired.status == run.status)) {
    plan.actions.push_back(
        {.verb = Action::Verb::patch,
         .type = kRuns,
         .key = run.metadata.key(),
         .body = status_patch(run, desired.status),
         .why = std::string(gives_up(run, desired) ? kWrapperGone : "the status is behind"),
         .write = {.subresource = "status"}});
  }
  plan.events = desired.events;
  if (desired.again) {
    plan.next = runtime::Next::after(*desired.again);
  }
  return plan;
}

RunReconciler& add_run_controller(runtime::Manager& manager, MetricsRegistry* metrics) {
  if (metrics != nullptr) {
    manager.cache().informer(kRuns).add_handler(
        [counts = std::make_shared<RunMetrics>(*metrics)](const runtime::ObjectChange& change) {
          counts->change(change);
        });
  }
  auto waiting = std::make_shared<WaitingRuns>(manager.cache().informer(kRuns));
  const runtime::MapFunction to_waiting = [waiting](const kube::Object&,
                                                    std::vector<model::ObjectKey>& keys) {
    keys.insert(keys.end(), waiting->keys().begin(), waiting->keys().end());
  };
  auto followers = std::make_shared<ProgressFollowers>(manager.env(), manager.client(),
                                                       manager.cache().informer(kRuns));
  manager.add_work([followers] { return followers->run(); });
  add_secret_copies(manager);
  return manager.controller("runs")
      .reconciles(kRuns)
      .owns(kWrappers)
      .watches(kPods, runtime::to_label(std::string(platform::kRunLabel)))
      .watches(kApplications, to_waiting)
      .watches(kDataSets, to_waiting)
      .watches(kSizes, to_waiting)
      .watches(kPolicies, to_waiting)
      .watches(kNamespaces, to_waiting)
      .workers(kWorkers)
      .with<RunReconciler>(followers, options_of(manager.env().variables));
}

}  // namespace codeflare::controllers::runs
