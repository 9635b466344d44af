#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/gvk.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::runtime {

using model::ObjectKey;
using model::ResourceType;

// The event that a reconcile waits for: the next change, or also a point in time.
class Next {
 public:
  static Next await_change() { return Next(std::nullopt); }
  static Next after(Duration delay) { return Next(delay); }
  const std::optional<Duration>& delay() const { return delay_; }

 private:
  explicit Next(std::optional<Duration> delay) : delay_(delay) {}
  std::optional<Duration> delay_;
};

// One write to the API server. `why` goes to the log: one line per decision with its reason.
struct Action {
  enum class Verb : std::uint8_t { create, update, patch, apply, remove };
  Verb verb = Verb::create;
  ResourceType type;
  ObjectKey key;
  std::string body;  // JSON; unused by remove
  std::string why;
  // May be under way together with its neighbours of the same verb that say so too: the pods of a
  // gang need not wait for each other.
  bool together = false;
  // Creating what exists succeeds: for objects that are made once and not watched.
  bool existing_is_fine = false;
  kube::PatchKind patch_kind = kube::PatchKind::merge;
  kube::WriteOptions write;
  kube::DeleteOptions removal;
};

// Something to tell people about the reconciled object.
struct EventNote {
  bool warning = false;
  std::string reason;  // CamelCase
  std::string message;
};

// The outcome of a diff: writes in order, then events, then what to wait for.
struct Plan {
  std::vector<Action> actions;
  std::vector<EventNote> events;
  Next next = Next::await_change();
};

// Brings one object to where it should be. Called for one key at a time, by key, never with the
// event that triggered it. An error means: try again later with backoff.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual Task<Result<Next>> reconcile(ObjectKey key) = 0;
};

// Carries out plans and sees to it that the caches have caught up with our own writes before the
// same key is looked at again. The only place where a controller writes.
class Actor {
 public:
  virtual ~Actor() = default;
  // Waits until the caches show what was written for this key before.
  virtual Task<Result<void>> ready(ObjectKey key) = 0;
  // Stops at the first failing action and returns its error. Removing a missing object is not a
  // failure. A creation that the server rejects is also reported in an event.
  virtual Task<Result<void>> act(ObjectKey key, Plan plan) = 0;
};

// The shape of every controller: observe gathers all it needs into one value and writes nothing;
// desired and diff are pure; only the actor does I/O.
template <typename Observed, typename Desired>
class StoryReconciler : public Reconciler {
 public:
  StoryReconciler(Env env, Actor& actor) : env_(env), actor_(actor) {}

  // Nothing when there is nothing to do for the key: the object is gone.
  virtual std::optional<Observed> observe(const ObjectKey& key) const = 0;
  virtual Desired desired(const Observed& observed, WallTime now) const = 0;
  virtual Plan diff(const Observed& observed, const Desired& desired) const = 0;

  // The whole decision for a key, once the caches show our own earlier writes; nothing is written.
  Task<Result<std::optional<Plan>>> decide(ObjectKey key) {
    CO_TRY(co_await actor_.ready(key));
    std::optional<Observed> observed = observe(key);
    if (!observed) {
      co_return std::optional<Plan>();
    }
    co_return diff(*observed, desired(*observed, env_.clock.wall()));
  }

  Task<Result<Next>> reconcile(ObjectKey key) final {
    CO_TRY_ASSIGN(std::optional<Plan> plan, co_await decide(key));
    if (!plan) {
      co_return Next::await_change();
    }
    Next next = plan->next;
    CO_TRY(co_await actor_.act(key, *std::move(plan)));
    co_return next;
  }

 private:
  Env env_;
  Actor& actor_;
};

}  // namespace codeflare::runtime
