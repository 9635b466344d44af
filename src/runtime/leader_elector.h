#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "kube/client.h"
#include "runtime/informer.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace codeflare::runtime {

struct LeaderOptions {
  std::string ns = "default";
  std::string name;      // of the Lease
  std::string identity;  // unique among the candidates
  // How long others wait after the last renewal they saw before they take over.
  std::chrono::seconds lease_duration{15};
  // How long we go on as leader without a successful renewal. Shorter than the lease, so that the
  // old leader has stopped before a new one starts.
  std::chrono::seconds renew_deadline{10};
  std::chrono::seconds retry_period{2};
  // False: another leader is an error, `already_exists`, instead of a reason to wait.
  bool stand_by = true;
  // The server lets nobody else write this Lease. So it is taken at once, whoever holds it, and is
  // not lost because renewals fail.
  bool exclusive = false;
  // No work before this: the leader from whom an exclusive Lease was taken may still be at work.
  Instant not_before{};
  bool create_namespace = false;  // when the namespace of the Lease is missing
  Logger logger{};                // in a Manager: its own
};

// The content of a Lease, and its version.
struct LeaseRecord {
  std::string holder;
  std::int64_t duration_seconds = 0;
  std::string acquire_time;
  std::int64_t transitions = 0;
  std::string resource_version;
  std::uint64_t revision = 0;
};

// Leadership by a coordination.k8s.io Lease, as client-go and with its wire format. A follower
// watches the Lease and sets a timer to its expiry, so it polls nothing. Expiry is measured on our
// own clock from when we saw the last change: clocks need not agree.
//   LeaderElector leader(env, client, options);
//   co_await leader.lead([&](StopToken lost) { return work(lost); });
class LeaderElector {
 public:
  LeaderElector(Env env, kube::Client& client, LeaderOptions options);
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  // Waits to become leader, then runs work() until we lose or it is stopped. A stop from outside
  // lets the work end in its own time, for the Lease is renewed meanwhile and released only after
  // that. When leadership is lost, the work's own token says so too: it must end at once. Returns
  // ok when it was stopped from outside or the work ended by itself, `failed_precondition` when
  // leadership was lost.
  using Work = std::function<Task<void>(StopToken lost)>;
  Task<Result<void>> lead(Work work);

  // Becomes the holder and does nothing with it, for preparations that only the leader may make. A
  // later elector of the same identity leads at once, give_back() ends it.
  Task<Result<void>> take();
  Task<void> give_back();

  bool leading() const { return leading_; }
  // The reason why we may wait indefinitely to lead, where waiting alone does not help: no rights
  // to the Lease, no such namespace. Empty otherwise.
  std::string trouble() const { return trouble_; }
  // Called with true and false as leadership comes and goes.
  void on_change(std::function<void(bool)> callback) { on_change_ = std::move(callback); }

 private:
  Task<Result<void>> first_look();
  Task<Result<void>> acquire();
  Task<Result<void>> work_while_leading(Work work);
  Task<Result<void>> try_to_take();
  Task<Result<ObjectRef>> create(LeaseRecord record);
  Result<void> check_rival();
  // Until lost (an error) or stopped (cancelled).
  Task<Error> keep();
  Task<Result<void>> renew();
  Result<void> still_ours() const;
  void observe(const ObjectRef& lease);
  bool free_to_take() const;
  std::string body(const LeaseRecord& record, bool with_version) const;
  Task<Result<void>> write(LeaseRecord record);
  void set_leading(bool leading);
  void tell(const Error& error);
  void tell_leader();
  std::string lease_name() const { return options_.ns + "/" + options_.name; }
  void all_is_well();

  Env env_;
  kube::Client& client_;
  LeaderOptions options_;
  Informer lease_;
  std::optional<LeaseRecord> seen_;
  Instant seen_at_;
  std::string rival_version_;  // of the Lease when another was first seen to hold it
  bool leading_ = false;
  std::string trouble_;
  std::set<std::string> told_;  // errors since it last went well
  std::string told_leader_;
  std::function<void(bool)> on_change_;
  WaitList changed_;
};

}  // namespace codeflare::runtime
