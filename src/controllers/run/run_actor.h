#pragma once

#include "kube/client.h"
#include "runtime/reconciler.h"
#include "runtime/store.h"

#include <string>
#include <string_view>

namespace codeflare::controllers::runs {

// `why` of the action that gives a Run up because its AppWrapper is gone.
inline constexpr std::string_view kWrapperGone = "its AppWrapper was deleted";

// Carries out the plans of Runs, with two looks that a cache cannot have:
//  - A Run is given up only if the server says too that its AppWrapper is gone: after a change of
//    the leader the cache of AppWrappers may lag that of Runs.
//  - An AppWrapper that the server rejects shows in the status of the Run. The creation is tried
//    again: a quota or a policy may change.
class RunActor final : public runtime::Actor {
 public:
  RunActor(runtime::Actor& actor, kube::Client& client, const runtime::Store& runs)
      : actor_(actor), client_(client), runs_(runs) {}

  Task<Result<void>> ready(runtime::ObjectKey key) override;
  Task<Result<void>> act(runtime::ObjectKey key, runtime::Plan plan) override;

 private:
  Task<Result<bool>> has_wrapper(runtime::ObjectKey key);
  Task<Result<void>> report(runtime::ObjectKey key, std::string why);

  runtime::Actor& actor_;
  kube::Client& client_;
  const runtime::Store& runs_;
};

// Built before the reconciler that acts through it.
struct RunActorHolder {
  RunActor actor;
};

}  // namespace codeflare::controllers::runs
