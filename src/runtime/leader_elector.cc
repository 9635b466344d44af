#include "runtime/leader_elector.h"

#include "base/async/sleep.h"
#include "base/check.h"
#include "json/write.h"
#include "kube/ensure_namespace.h"

#include <algorithm>
#include <utility>

namespace codeflare::runtime {

namespace {

const ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};

kube::WatcherOptions watch_of(const LeaderOptions& options) {
  kube::WatcherOptions watch;
  watch.ns = options.ns;
  watch.field_selector = "metadata.name=" + options.name;
  watch.backoff_max = options.retry_period;
  return watch;
}

std::int64_t int_or_zero(const json::Value* value) {
  return value == nullptr ? 0 : value->to_int64().value_or(0);
}

// More kinds of failure than this between two successes tell nothing new.
constexpr std::size_t kToldMax = 20;

// Another candidate was faster, or a watch has to begin anew: part of the game.
bool is_usual(ErrorCode code) {
  return code == ErrorCode::cancelled || code == ErrorCode::conflict ||
         code == ErrorCode::already_exists || code == ErrorCode::expired;
}

// The step that a human must take before it can get better; empty when time may heal it.
std::string remedy_of(ErrorCode code, const std::string& ns) {
  switch (code) {
    case ErrorCode::permission_denied:
      return "allow get, list, watch, create and patch on leases of coordination.k8s.io in "
             "namespace " +
             ns;
    case ErrorCode::unauthenticated:
      return "give this process credentials that the server takes";
    case ErrorCode::not_found:
      return "create namespace " + ns + ", or name another one for the Lease";
    default:
      return {};
  }
}

Task<void> run_then_stop(LeaderElector::Work work, StopToken lost, StopSource& source) {
  co_await work(std::move(lost));
  source.request_stop();
}

}  // namespace

LeaderElector::LeaderElector(Env env, kube::Client& client, LeaderOptions options)
    : env_(env),
      client_(client),
      options_(std::move(options)),
      lease_(env, client, kLeases, InformerOptions{.watch = watch_of(options_), .transform = {}}) {
  CHECK(!options_.identity.empty() && !options_.name.empty());
  lease_.add_handler([this](const ObjectChange& change) { observe(change.now); });
}

Task<Result<void>> LeaderElector::lead(Work work) {
  const TaskContext& context = co_await current_context();
  TaskGroup watching(*context.loop, context.stop);
  watching.spawn(lease_.run());
  Result<void> result = co_await acquire();
  if (result) {
    result = co_await work_while_leading(std::move(work));
  } else if (result.error().code == ErrorCode::cancelled) {
    result = {};
  }
  co_await watching.close();
  co_return result;
}

Task<Result<void>> LeaderElector::take() {
  const TaskContext& context = co_await current_context();
  TaskGroup watching(*context.loop, context.stop);
  watching.spawn(lease_.run());
  Result<void> taken = co_await acquire();
  co_await watching.close();
  co_return taken;
}

// The renewals go on until the work has really ended, also while it winds down after a stop: nobody
// may take over while we still write.
Task<Result<void>> LeaderElector::work_while_leading(Work work) {
  const TaskContext& context = co_await current_context();
  StopSource renewing;
  TaskContext renewal{context.loop, renewing.token()};
  TaskGroup working(*context.loop, context.stop);
  StopSource lost;
  set_leading(true);
  working.spawn(run_then_stop(std::move(work), lost.token(), renewing));
  Error end = working.size() > 0 ? co_await keep().under(renewal) : cancelled();
  if (end.code != ErrorCode::cancelled) {
    // Another may begin as soon as the lease has run out: no time for half-done work.
    lost.request_stop();
  }
  co_await working.close();
  set_leading(false);
  if (end.code != ErrorCode::cancelled) {
    co_return fail(std::move(end));
  }
  co_await give_back();
  co_return Result<void>();
}

// Without the right to read the Lease it would never end: the log says why it does not.
Task<Result<void>> LeaderElector::first_look() {
  for (;;) {
    Result<void> synced =
        co_await with_timeout(options_.retry_period, "the first look", lease_.wait_synced());
    if (synced || synced.error().code != ErrorCode::deadline_exceeded) {
      co_return synced;
    }
    if (const std::optional<Error> error = lease_.last_error()) {
      tell(*error);
      if (!options_.stand_by && !remedy_of(error->code, options_.ns).empty()) {
        co_return fail(*error);
      }
    }
  }
}

// Each turn either waits for news (a change, or the expiry of what was seen) or tries to take the
// Lease; a failed try waits for the retry period, unless the watch brings news before.
Task<Result<void>> LeaderElector::acquire() {
  CO_TRY(co_await first_look());
  if (const Duration early = options_.not_before - env_.loop.now(); early > Duration::zero()) {
    CO_TRY(co_await sleep_for(early));
  }
  for (;;) {
    if (const std::optional<Error> error = lease_.last_error()) {
      tell(*error);
    } else if (!free_to_take()) {
      all_is_well();
      tell_leader();
    }
    Duration wait = options_.retry_period;
    if (free_to_take()) {
      Result<void> taken = co_await try_to_take();
      if (taken) {
        all_is_well();
        co_return taken;
      }
      // Time does not heal it, and nobody waits for a person who does.
      const bool final = !options_.stand_by && !remedy_of(taken.error().code, options_.ns).empty();
      if (taken.error().code == ErrorCode::cancelled || final) {
        co_return taken;
      }
      tell(taken.error());
    } else {
      CO_TRY(check_rival());
      Instant expiry = after(seen_at_, std::chrono::seconds(seen_->duration_seconds));
      wait = std::max<Duration>(expiry - env_.loop.now(), Duration::zero());
    }
    TimerId timer =
        env_.loop.start_timer(after(env_.loop.now(), wait), [this] { changed_.notify_all(); });
    Result<void> woken = co_await changed_.wait();
    env_.loop.cancel_timer(timer);
    CO_TRY(std::move(woken));
  }
}

// Where nobody stands by: a Lease that its holder renews is not waited for.
Result<void> LeaderElector::check_rival() {
  if (options_.stand_by) {
    return {};
  }
  if (rival_version_.empty()) {
    rival_version_ = seen_->resource_version;
  }
  if (rival_version_ == seen_->resource_version) {
    return {};
  }
  return fail(
      already_exists("'" + seen_->holder + "' leads: it holds and renews Lease " + lease_name()));
}

bool LeaderElector::free_to_take() const {
  return !seen_ || options_.exclusive || seen_->holder.empty() ||
         seen_->holder == options_.identity ||
         env_.loop.now() >= after(seen_at_, std::chrono::seconds(seen_->duration_seconds));
}

Task<Result<void>> LeaderElector::try_to_take() {
  LeaseRecord record;
  record.holder = options_.identity;
  record.duration_seconds = options_.lease_duration.count();
  record.acquire_time = to_rfc3339(env_.clock.wall(), 6);
  if (!seen_) {
    auto created = create(std::move(record));
    CO_TRY_ASSIGN(ObjectRef object, co_await with_timeout(options_.renew_deadline, "create lease",
                                                          std::move(created)));
    observe(object);
    co_return Result<void>();
  }
  record.resource_version = seen_->resource_version;
  record.transitions = seen_->transitions + (seen_->holder == options_.identity ? 0 : 1);
  auto written = write(std::move(record));
  co_return co_await with_timeout(options_.renew_deadline, "take lease", std::move(written));
}

Task<Result<ObjectRef>> LeaderElector::create(LeaseRecord record) {
  std::string lease = body(record, false);
  std::string again = lease;
  Result<ObjectRef> created = co_await client_.create(kLeases, options_.ns, std::move(lease));
  if (created || created.error().code != ErrorCode::not_found || !options_.create_namespace) {
    co_return created;
  }
  CO_TRY(co_await kube::ensure_namespace(client_, options_.ns));
  co_return co_await client_.create(kLeases, options_.ns, std::move(again));
}

Task<Error> LeaderElector::keep() {
  Instant renewed = env_.loop.now();
  Error last = deadline_exceeded("no time left");
  for (;;) {
    Result<void> slept = co_await sleep_for(options_.retry_period);
    if (!slept) {
      co_return slept.error();
    }
    // Counted from before the request: when its answer is slow, the server may have stored it
    // early.
    const Instant begin = env_.loop.now();
    const Duration left =
        options_.renew_deadline - (options_.exclusive ? Duration::zero() : begin - renewed);
    Result<void> done = left > Duration::zero()
                            ? co_await with_timeout(left, "renew lease", renew())
                            : Result<void>(fail(last));
    if (done) {
      renewed = begin;
      all_is_well();
      continue;
    }
    const ErrorCode code = done.error().code;
    if (code == ErrorCode::cancelled || code == ErrorCode::failed_precondition) {
      co_return done.error();
    }
    last = std::move(done).error();
    if (!options_.exclusive && env_.loop.now() - renewed >= options_.renew_deadline) {
      co_return failed_precondition("leadership of " + lease_name() + " lost: not renewed within " +
                                    std::to_string(options_.renew_deadline.count()) +
                                    " s, last: " + last.message);
    }
    tell(last);
  }
}

// The usual renewal is one conditional write; only after a conflict is the Lease read again.
Task<Result<void>> LeaderElector::renew() {
  if (!seen_) {
    // Somebody deleted the Lease: make it again before another candidate does.
    co_return co_await try_to_take();
  }
  // The watch may have told already that somebody else has it.
  CO_TRY(still_ours());
  LeaseRecord record = *seen_;
  Result<void> written = co_await write(std::move(record));
  if (written || written.error().code != ErrorCode::conflict) {
    co_return written;
  }
  ObjectKey key{options_.ns, options_.name};
  CO_TRY_ASSIGN(ObjectRef lease, co_await client_.get(kLeases, std::move(key)));
  observe(lease);
  CO_TRY(still_ours());
  LeaseRecord again = *seen_;
  co_return co_await write(std::move(again));
}

Result<void> LeaderElector::still_ours() const {
  if (seen_->holder == options_.identity) {
    return {};
  }
  return fail(
      failed_precondition("leadership of " + lease_name() + " lost to '" + seen_->holder + "'"));
}

Task<void> LeaderElector::give_back() {
  if (!seen_ || seen_->holder != options_.identity) {
    co_return;
  }
  // We may be here because we were asked to stop: the release must still go out, within bounds.
  TaskContext free{(co_await current_context()).loop, StopToken()};
  LeaseRecord record = *seen_;
  record.holder.clear();
  record.duration_seconds = 1;
  auto written = with_timeout(options_.retry_period, "release lease", write(std::move(record)));
  (void)co_await std::move(written).under(free);
}

Task<Result<void>> LeaderElector::write(LeaseRecord record) {
  std::string patch = body(record, true);
  ObjectKey key{options_.ns, options_.name};
  CO_TRY_ASSIGN(ObjectRef lease, co_await client_.patch(kLeases, std::move(key),
                                                        kube::PatchKind::merge, std::move(patch)));
  observe(lease);
  co_return Result<void>();
}

void LeaderElector::observe(const ObjectRef& lease) {
  std::optional<LeaseRecord> record;
  if (lease != nullptr) {
    Result<json::Document> document = lease->parse();
    if (!document) {
      return;
    }
    record.emplace();
    record->resource_version = lease->resource_version();
    record->revision = lease->revision();
    if (const json::Value* spec = document->root.find("spec")) {
      record->holder = spec->string_or_empty("holderIdentity");
      record->acquire_time = spec->string_or_empty("acquireTime");
      record->duration_seconds = int_or_zero(spec->find("leaseDurationSeconds"));
      record->transitions = int_or_zero(spec->find("leaseTransitions"));
    }
    // An answer and the watch both bring a write to us; the second one brings no news.
    if (seen_ && (seen_->resource_version == record->resource_version ||
                  record->revision < seen_->revision)) {
      return;
    }
  }
  seen_ = std::move(record);
  seen_at_ = env_.loop.now();
  changed_.notify_all();
}

std::string LeaderElector::body(const LeaseRecord& record, bool with_version) const {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "coordination.k8s.io/v1").member("kind", "Lease");
  w.key("metadata").begin_object();
  w.member("name", options_.name).member("namespace", options_.ns);
  if (with_version) {
    w.member("resourceVersion", record.resource_version);
  }
  w.end_object().key("spec").begin_object();
  w.member("holderIdentity", record.holder);
  w.key("leaseDurationSeconds").integer(record.duration_seconds);
  w.member_if_set("acquireTime", record.acquire_time);
  w.member("renewTime", to_rfc3339(env_.clock.wall(), 6));
  w.key("leaseTransitions").integer(record.transitions);
  w.end_object().end_object();
  return text;
}

void LeaderElector::set_leading(bool leading) {
  if (std::exchange(leading_, leading) != leading && on_change_) {
    on_change_(leading);
  }
}

// Once per failure, not once per try. Errors that only time heals differ in numbers each time.
void LeaderElector::tell(const Error& error) {
  trouble_.clear();
  if (is_usual(error.code) || (seen_ && error.code == ErrorCode::not_found)) {
    return;  // a Lease that was there and is gone is made again
  }
  const std::string remedy = remedy_of(error.code, options_.ns);
  if (!remedy.empty()) {
    trouble_ = "lease " + lease_name() + ": " + error.message;
  }
  const std::string failure = remedy.empty() ? std::string(to_string(error.code)) : error.message;
  if (told_.size() >= kToldMax || !told_.insert(failure).second) {
    return;
  }
  options_.logger.warn(
      leading_ ? "the leader's Lease cannot be renewed" : "the leader's Lease cannot be taken",
      {{"lease", lease_name()},
       {"identity", options_.identity},
       {"error", error},
       {"help", remedy.empty() ? "it is tried again" : remedy}});
}

// Once per leader, not once per renewal.
void LeaderElector::tell_leader() {
  if (told_leader_ == seen_->holder) {
    return;
  }
  told_leader_ = seen_->holder;
  options_.logger.info(options_.stand_by ? "standing by: another controller leads"
                                         : "another controller holds the Lease: waiting until it "
                                           "renews the Lease or the Lease expires",
                       {{"leader", seen_->holder},
                        {"lease", lease_name()},
                        {"seconds", seen_->duration_seconds},
                        {"identity", options_.identity}});
}

void LeaderElector::all_is_well() {
  trouble_.clear();
  told_.clear();
}

}  // namespace codeflare::runtime
