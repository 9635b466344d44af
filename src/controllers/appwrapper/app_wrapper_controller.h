#pragma once

#include "base/async/task.h"
#include "base/log.h"
#include "base/rate_limiter.h"
#include "controllers/appwrapper/definition_guard.h"
#include "controllers/appwrapper/items.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/appwrapper/queue_metrics.h"
#include "controllers/appwrapper/remote_copies.h"
#include "controllers/appwrapper/status_machine.h"
#include "model/key_map.h"
#include "runtime/event_recorder.h"
#include "runtime/finalizer.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers {

// The versions that we wrote ourselves, by key: their events bring no news.
class OwnWrites {
 public:
  void note(const kube::Object& written) {
    versions_[written.key()] = std::string(written.resource_version());
  }
  void forget(const model::ObjectKey& key) { versions_.erase(key); }
  bool is_own(const kube::Object& object) const {
    auto at = versions_.find(object.key());
    return at != versions_.end() && at->second == object.resource_version();
  }

 private:
  model::KeyMap<std::string> versions_;
};

// Carries out what the queue wants of one AppWrapper: observe, ask the status machine for the next
// thing, do it, and again until there is nothing left to do but wait. Every step is one write, and
// any of them may be the last of this process: the next one goes on from what the status says.
class AppWrapperController final : public runtime::Reconciler {
 public:
  struct Parts {
    QueueDriver& driver;
    ItemWatch& watch;
    DefinitionGuard& definitions;
    QueueMetrics& metrics;
    runtime::EventRecorder& events;
    std::shared_ptr<OwnWrites> own_writes;
    queue::InstrumentOptions items{};
    std::optional<SubmitterTrust> submitters{};  // nothing: items are created in our own name
    MachineOptions machine{};
    RemoteCopies* copies = nullptr;  // on other clusters; null: there are none
    Logger logger{};
  };
  AppWrapperController(const runtime::ControllerContext& context, Parts parts);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;
  const runtime::Waker& waker() const { return waker_; }

 private:
  // All items of the plan that started then were created.
  struct Created {
    WallTime plan;
    Instant at;
  };
  // This process's memory of an AppWrapper; nothing that the next one would miss. By the steady
  // clock: somebody may set the other one.
  struct Memory {
    std::string uid;
    std::optional<Instant> written{};
    std::optional<Instant> settled_since{};
    std::optional<Instant> unhealthy_since{};
    std::optional<Instant> quiet_since{};
    std::optional<Instant> asked_since{};
    std::optional<Instant> copy_waits_since{};
    // The kind that an Event reported since its dispatch.
    std::optional<queue::PodTrouble::Kind> trouble_told{};
    bool stuck_told = false;            // of what stays although it was asked without grace
    std::optional<bool> was_healthy{};  // nothing: it was not looked at since its dispatch
    std::optional<Created> created{};   // while the status does not say so yet
    // A write of which we do not know whether it happened, or that lost against another.
    bool unclear = false;
  };
  // One AppWrapper in the course of one reconcile.
  struct Turn {
    kube::ObjectRef object;
    model::AppWrapper wrapper;  // without its spec when that cannot be read
    std::string unreadable{};   // why it cannot
    bool resumed = false;       // the intent is of another turn: items may have been created
    std::optional<Creation> creation{};
    std::optional<Error> failure{};  // of creating, to be tried again
    bool cleared = false;
    std::optional<model::AppWrapperStatus> copy_ended{};
    std::string abandoned{};
    std::string left{};
    bool forced = false;     // it was asked without grace
    std::string problem{};   // why its status cannot be written as it should be
    bool unwatched = false;  // no change of some item wakes us
  };

  Task<Result<runtime::Next>> work_on(model::ObjectKey key);
  Task<Result<kube::ObjectRef>> newest(model::ObjectKey key);
  static Result<Turn> read(kube::ObjectRef object);
  Memory& memory(const model::AppWrapper& wrapper);
  Task<Result<Observed>> observe(Turn& turn);
  Result<std::vector<ItemQuery>> item_queries(const model::AppWrapper& wrapper);
  void remember(const model::AppWrapper& wrapper, Observed& observed);
  // Nothing: look again at once.
  Task<Result<std::optional<runtime::Next>>> act(Turn& turn, Decision decision);
  bool has_created(const model::AppWrapper& wrapper);
  Duration until_dispatched_is_told(const model::AppWrapper& wrapper);
  Task<Result<void>> write_status(Turn& turn, const Decision& decision);
  Task<Result<void>> write_finalizers(Turn& turn, runtime::Action change);
  Task<Result<void>> written(Turn& turn, Task<Result<kube::ObjectRef>> write);
  Task<Result<Creation>> create_items(const Turn& turn);
  Task<Result<void>> create(Turn& turn);
  void plan_dropped(const Turn& turn, bool held);
  Task<Result<void>> take_back(Turn& turn, bool force);
  Task<Result<void>> take_copy_back(Turn& turn, std::string cluster);
  Task<Result<void>> look_at_items(const Turn& turn, Observed& observed);
  Task<Result<bool>> has_unseen_pods(const model::AppWrapper& wrapper, bool active);
  Task<Result<std::vector<std::string>>> name_pods(const model::AppWrapper& wrapper);
  bool is_told_what_stays(const Memory& known) const;
  void tell(const Turn& turn, Tell tell);
  void note(const Turn& turn, std::vector<Note> notes);

  Env env_;
  kube::Client& client_;
  runtime::Informer& subject_;
  runtime::Waker waker_;
  runtime::Finalizer finalizer_;
  Parts parts_;
  // Conditions say the same: thousands that start and end must not double the writes.
  RateLimiter good_events_{{.rate = 1, .burst = 20}};
  Items items_;
  model::KeyMap<Memory> memory_;
};

}  // namespace codeflare::controllers
