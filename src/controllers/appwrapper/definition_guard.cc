#include "controllers/appwrapper/definition_guard.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "json/parse.h"
#include "model/codec/custom_resource_definition.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers {

namespace {

using Definition = model::CustomResourceDefinition;

// Between two looks at a definition that somebody else has to mend.
constexpr Duration kLookEvery = std::chrono::seconds(10);
// Between two plans that may be lost, where definitions cannot be read.
constexpr Duration kTryEvery = std::chrono::minutes(1);

std::string name_of(model::WrapperApi api) {
  return app_wrapper_type(api).qualified_name();
}

std::string sentence(model::WrapperApi api, bool deleted, const std::string& failure) {
  const model::ResourceType type = app_wrapper_type(api);
  std::string text = "customresourcedefinition " + type.qualified_name() +
                     (deleted ? " is missing" : " drops status.plan") +
                     ", so nothing can start; apply crds/" + type.group + "_appwrappers.yaml";
  return failure.empty() ? text + ", or start the controller with --install-crds"
                         : text + "; the controller could not apply it: " + failure;
}

bool keeps_unknown_fields(const json::Value* schema) {
  const json::Value* keeps =
      schema == nullptr ? nullptr : schema->find("x-kubernetes-preserve-unknown-fields");
  return keeps != nullptr && keeps->is_boolean() && keeps->as_bool();
}

// Whether objects of this version can hold a plan.
bool keeps_plan(const model::CustomResourceDefinitionVersion& version) {
  const Result<json::Document> schema = json::parse(version.schema.text);
  if (!schema) {
    return false;
  }
  const json::Value* root = schema->root.get({"openAPIV3Schema"});
  const json::Value* status = schema->root.get({"openAPIV3Schema", "properties", "status"});
  return keeps_unknown_fields(status) || (status == nullptr && keeps_unknown_fields(root)) ||
         (status != nullptr && status->get({"properties", "plan"}) != nullptr);
}

}  // namespace

DefinitionGuard::DefinitionGuard(kube::Client& client, Options options)
    : client_(client), options_(std::move(options)) {}

void DefinitionGuard::plan_dropped(model::WrapperApi api) {
  if (!blocks_) {
    api_ = api;
    deleted_ = false;
    block(sentence(api, deleted_, ""));
    changed_.notify_all();
  }
}

void DefinitionGuard::block(std::string why) {
  blocks_ = true;
  if (why != told_) {
    options_.logger.error("nothing can start", {{"because", why}});
    told_ = why;
  }
  options_.on_change(std::move(why));
}

bool DefinitionGuard::is_gone() const {
  return options_.gone && options_.gone();
}

void DefinitionGuard::unblock() {
  blocks_ = false;
  options_.on_change("");
}

Task<void> DefinitionGuard::run() {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  group.spawn(watch_for_deletion());
  group.spawn(stand_guard());
  co_await group.join();
}

// No request: the caches know it from their watches, which ended.
Task<void> DefinitionGuard::watch_for_deletion() {
  while (co_await sleep_for(kLookEvery)) {
    const std::optional<model::WrapperApi> gone = options_.gone ? options_.gone() : std::nullopt;
    if (gone && !(blocks_ && deleted_)) {
      api_ = *gone;
      deleted_ = true;
      block(sentence(api_, deleted_, ""));
      changed_.notify_all();
    } else if (!blocks_ && options_.mend && options_.quotas_gone && options_.quotas_gone()) {
      (void)co_await options_.mend();  // tried again as long as they are missing
    }
  }
}

Task<void> DefinitionGuard::stand_guard() {
  const TaskContext& context = co_await current_context();
  while (!context.stop.stop_requested()) {
    while (!blocks_) {
      if (!co_await changed_.wait()) {
        co_return;
      }
    }
    co_await attempt();
    if (blocks_ && !co_await sleep_for(kLookEvery)) {
      co_return;
    }
  }
}

Task<void> DefinitionGuard::attempt() {
  Look found = Look::bad;
  if (deleted_ && !is_gone()) {
    found = Look::good;  // whatever it is like now, the next plan shows
  } else if (options_.mend) {
    found = co_await mend();
  } else if (!deleted_) {
    found = co_await look();
  }
  if (found == Look::bad) {
    co_return;
  }
  if (found == Look::denied) {
    // The next plan tells; nothing new is to be said if it is lost again.
    if (!co_await sleep_for(kTryEvery)) {
      co_return;
    }
  } else {
    options_.logger.info(deleted_
                             ? "the definition of AppWrappers is back; work starts again"
                             : "the definition of AppWrappers keeps status.plan; work starts again",
                         {{"name", name_of(api_)}});
    told_.clear();
  }
  unblock();
}

Task<DefinitionGuard::Look> DefinitionGuard::mend() {
  const Result<void> mended = co_await options_.mend();
  if (!mended) {
    block(sentence(api_, deleted_, mended.error().message));
    co_return Look::bad;
  }
  // A deleted one is back when the caches follow it again.
  co_return is_gone() ? Look::bad : Look::good;
}

Task<DefinitionGuard::Look> DefinitionGuard::look() {
  const Result<kube::ObjectRef> object =
      co_await client_.get(model::resource_type<Definition>(), {"", name_of(api_)});
  if (!object) {
    co_return object.error().code == ErrorCode::permission_denied ? Look::denied : Look::bad;
  }
  const Result<Definition> definition = (*object)->as<Definition>();
  if (!definition) {
    co_return Look::bad;
  }
  const std::string wanted = app_wrapper_type(api_).version;
  const auto version = std::ranges::find(definition->spec.versions, wanted,
                                         &model::CustomResourceDefinitionVersion::name);
  const bool keeps = version != definition->spec.versions.end() && keeps_plan(*version);
  co_return keeps ? Look::good : Look::bad;
}

}  // namespace codeflare::controllers
