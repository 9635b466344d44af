#include "controllers/run/run_actor.h"

#include "controllers/run/run_status.h"
#include "controllers/status_patch.h"
#include "model/app_wrapper.h"
#include "model/codec/platform.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::runs {

namespace {

using runtime::Action;

bool is_final(const Error& error) {
  return error.code == ErrorCode::permission_denied || error.code == ErrorCode::invalid_argument;
}

}  // namespace

Task<Result<void>> RunActor::ready(runtime::ObjectKey key) {
  return actor_.ready(std::move(key));
}

Task<Result<void>> RunActor::act(runtime::ObjectKey key, runtime::Plan plan) {
  if (std::ranges::find(plan.actions, kWrapperGone, &Action::why) != plan.actions.end()) {
    CO_TRY_ASSIGN(const bool there, co_await has_wrapper(key));
    if (there) {
      co_return fail(unavailable("run " + key.to_string() +
                                 ": its AppWrapper exists, but is not in the cache yet"));
    }
  }
  const bool creates =
      std::ranges::find(plan.actions, Action::Verb::create, &Action::verb) != plan.actions.end();
  Result<void> done = co_await actor_.act(key, std::move(plan));
  if (!done && creates && is_final(done.error())) {
    CO_TRY(co_await report(key, done.error().message));
  }
  co_return done;
}

// A list, because the controller has no right to get AppWrappers one by one.
Task<Result<bool>> RunActor::has_wrapper(runtime::ObjectKey key) {
  const runtime::ObjectRef run = runs_.get(key);
  if (run == nullptr) {
    co_return false;
  }
  kube::ListOptions options{
      .ns = key.ns, .field_selector = "metadata.name=" + run->string_at({"status", "appWrapper"})};
  CO_TRY_ASSIGN(
      const kube::ObjectList found,
      co_await client_.list(model::resource_type<model::AppWrapper>(), std::move(options)));
  co_return !found.items.empty();
}

Task<Result<void>> RunActor::report(runtime::ObjectKey key, std::string why) {
  const runtime::ObjectRef object = runs_.get(key);
  Result<model::Run> run = object == nullptr ? Result<model::Run>(fail(not_found(key.to_string())))
                                             : object->as<model::Run>();
  if (!run) {
    co_return Result<void>();
  }
  model::RunStatus status = run->status;
  set_phase(status, model::run_phase::kPending, "Rejected",
            "the AppWrapper cannot be created: " + std::move(why));
  if (status == run->status) {
    co_return Result<void>();
  }
  runtime::Plan plan;
  plan.actions.push_back({.verb = Action::Verb::patch,
                          .type = model::resource_type<model::Run>(),
                          .key = key,
                          .body = status_patch(*run, status),
                          .why = "the AppWrapper is rejected",
                          .write = {.subresource = "status"}});
  co_return co_await actor_.act(std::move(key), std::move(plan));
}

}  // namespace codeflare::controllers::runs
