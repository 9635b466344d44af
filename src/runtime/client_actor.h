#pragma once

#include "base/log.h"
#include "kube/client.h"
#include "runtime/event_recorder.h"
#include "runtime/informer.h"
#include "runtime/reconciler.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace codeflare::runtime {

// The Actor of a running controller: writes through the client, remembers which caches have to see
// each write, and records events about the reconciled object.
class ClientActor final : public Actor {
 public:
  // `subject` is the informer of the reconciled kind. Caches of other kinds that the controller
  // writes are added with follow(); a kind without one is written but not waited for.
  ClientActor(kube::Client& client, Informer& subject, EventRecorder* events, Logger logger);

  void follow(Informer& informer);

  Task<Result<void>> ready(ObjectKey key) override;
  Task<Result<void>> act(ObjectKey key, Plan plan) override;

 private:
  struct Awaited {
    Informer* informer;
    ObjectKey key;
  };

  // Some actions that are carried out together.
  struct Batch {
    ObjectKey key;
    std::vector<Action> actions;
    std::size_t next = 0;
    Result<void> outcome{};
  };

  Task<Result<void>> carry_out(ObjectKey key, Action action);
  Task<Result<void>> carry_out_together(ObjectKey key, std::vector<Action> actions);
  Task<void> work_on(Batch& batch);
  void tell_refusal(const ObjectKey& key, const Action& action, const Error& error);
  Task<Result<ObjectRef>> send(Action action);
  std::string cached_uid(const Action& action) const;  // empty: it shows none
  // `removed`: the uid of what the action took away.
  void remember(const ObjectKey& key, const Action& action, const ObjectRef& answer,
                std::string removed);
  void record(const ObjectKey& key, EventNote note);

  kube::Client& client_;
  Informer& subject_;
  EventRecorder* events_;
  Logger logger_;
  std::map<ResourceType, Informer*> informers_;
  std::map<ObjectKey, std::vector<Awaited>> awaited_;
};

}  // namespace codeflare::runtime
