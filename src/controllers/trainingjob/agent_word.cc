#include "controllers/trainingjob/agent_word.h"

#include "controllers/trainingjob/names.h"
#include "elastic/kubernetes_store.h"
#include "model/codec/core.h"
#include "queue/training_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

using std::chrono::seconds;

constexpr Duration kLease = seconds(10);
constexpr Duration kNodeLost = seconds(30);
constexpr Duration kProgressPause = seconds(5);
constexpr std::int64_t kJoinSeconds = 60;
constexpr std::int64_t kReadySeconds = 60;

std::int32_t allowed_size(const sched::Sizes& sizes, std::int32_t size) {
  if (sizes.list.empty()) {
    const std::int64_t more = std::max<std::int64_t>(0, size - sizes.min);
    return size < sizes.min ? size
                            : static_cast<std::int32_t>(sizes.min + more / sizes.step * sizes.step);
  }
  std::int32_t best = 0;
  for (const std::int64_t each : sizes.list) {
    best = each <= size ? static_cast<std::int32_t>(each) : best;
  }
  return best;
}

bool is_owned_by(const model::Lease& lease, const std::string& uid) {
  const model::OwnerReference* owner = model::controller_of(lease.metadata);
  return owner != nullptr && owner->uid == uid;
}

}  // namespace

const elastic::Member* AgentWord::member_of(const std::string& uid) const {
  const auto at = members.find(uid);
  return at == members.end() ? nullptr : &at->second;
}

AgentWord AgentWords::of(const model::TrainingJob& job, const std::vector<WorkerPod>& pods,
                         Instant now) {
  AgentWord word;
  Known& known = known_of(job);
  word.progress_due = !known.progress_at || now - *known.progress_at >= kProgressPause;
  const auto find = [&](const std::string& name) -> std::optional<model::Lease> {
    const runtime::ObjectRef object = leases_.get({job.metadata.ns, name});
    Result<model::Lease> lease =
        object == nullptr ? fail(not_found(name)) : object->as<model::Lease>();
    return lease && is_owned_by(*lease, job.metadata.uid) ? std::optional(*std::move(lease))
                                                          : std::nullopt;
  };
  if (const auto round = find(elastic::round_name(job.metadata.name))) {
    word.has_round_lease = true;
    if (Result<elastic::Round> read = elastic::parse_round(
            model::find_or_empty(round->metadata.annotations, elastic::kRoundAnnotation))) {
      word.round = *std::move(read);
    }
  }
  std::set<std::int64_t> numbers;
  for (const WorkerPod& pod : pods) {
    numbers.insert(pod.index);
  }
  if (job.status.plan) {
    for (const model::TrainingPlace& place : job.status.plan->places) {
      numbers.insert(place.index);
    }
  }
  for (const std::int64_t index : numbers) {
    const auto lease = find(worker_name(job.metadata.name, index));
    if (!lease) {
      continue;
    }
    word.leases.insert(index);
    const std::string holder = lease->spec.holder_identity.value_or("");
    const bool held = std::ranges::any_of(
        pods, [&](const WorkerPod& pod) { return pod.index == index && pod.uid == holder; });
    if (!held) {
      continue;  // of an earlier pod
    }
    known.judge.see(holder, to_rfc3339(lease->spec.renew_time.value_or(model::MicroTime{}).time, 6),
                    now);
    if (known.judge.has_run_out(holder, kLease, now)) {
      word.lost.insert(holder);
    }
    if (Result<elastic::Member> member = elastic::parse_member(
            model::find_or_empty(lease->metadata.annotations, elastic::kMemberAnnotation))) {
      word.members.emplace(holder, *std::move(member));
    }
  }
  return word;
}

void AgentWords::progress_written(const model::TrainingJob& job, Instant now) {
  known_of(job).progress_at = now;
}

AgentWords::Known& AgentWords::known_of(const model::TrainingJob& job) {
  Known& known = known_[job.metadata.key()];
  if (known.uid != job.metadata.uid) {
    known = {};
    known.uid = job.metadata.uid;
  }
  return known;
}

elastic::MembershipDecision agent_membership(const model::TrainingJob& job,
                                             const model::TrainingJobStatus& status,
                                             const std::set<std::int64_t>& planned,
                                             const std::vector<WorkerPod>& pods,
                                             const AgentWord& word, bool fenced, WallTime now) {
  const sched::Sizes sizes = queue::sizes_of(job.spec);
  elastic::MembershipFacts facts{
      .current = from_status(status.membership),
      .round = word.round,
      .size_min = static_cast<std::int32_t>(sizes.min),
      .now = now,
      .ready_patience =
          seconds(job.spec.elastic.grace_period_seconds.value_or(kGraceSeconds) + kReadySeconds),
      .allowed = [&sizes](std::int32_t size) { return allowed_size(sizes, size); },
      .fenced = fenced};
  for (const WorkerPod& pod : pods) {
    const auto index = static_cast<std::int32_t>(pod.index);
    elastic::PodFacts each{
        .index = index,
        .uid = pod.uid,
        .leaving = pod.deleting || !planned.contains(pod.index),
        .ended = pod.over(),
        .lost = word.lost.contains(pod.uid) || (pod.stranded && *pod.stranded >= kNodeLost)};
    if (const elastic::Member* member = word.member_of(pod.uid)) {
      each.member = *member;
    }
    const elastic::MemberRef* ref = facts.current.find(index);
    if (ref == nullptr || ref->pod != pod.uid) {
      const WallTime end =
          pod.created + seconds(job.spec.elastic.join_timeout_seconds.value_or(kJoinSeconds));
      facts.growth_deadline = std::max(facts.growth_deadline.value_or(end), end);
    }
    facts.pods.push_back(std::move(each));
  }
  std::ranges::sort(facts.pods, {}, &elastic::PodFacts::index);
  return elastic::decide_membership(facts);
}

elastic::Membership from_status(const std::optional<model::TrainingMembership>& membership) {
  elastic::Membership result;
  if (!membership) {
    return result;
  }
  result.generation = membership->generation;
  result.reason = membership->reason;
  for (const model::TrainingMember& member : membership->members) {
    result.members.push_back(
        {.index = static_cast<std::int32_t>(member.index), .pod = member.pod, .extra = {}});
  }
  if (membership->not_after) {
    result.not_after = to_rfc3339(membership->not_after->time);
  }
  return result;
}

model::TrainingMembership to_status(const elastic::Membership& membership) {
  model::TrainingMembership result;
  result.generation = membership.generation;
  result.reason = membership.reason;
  for (const elastic::MemberRef& member : membership.members) {
    result.members.push_back({.index = member.index, .pod = member.pod, .extra = {}});
  }
  if (const Result<WallTime> end = parse_rfc3339(membership.not_after)) {
    result.not_after = model::MicroTime{*end};
  }
  return result;
}

Saving saving_of(const std::optional<model::TrainingMembership>& membership,
                 const AgentWord& word) {
  Saving saving;
  for (const model::TrainingMember& ref :
       membership ? membership->members : model::List<model::TrainingMember>()) {
    const elastic::Member* member = word.member_of(ref.pod);
    if (member == nullptr) {
      continue;
    }
    if (saving.problem.empty() && !member->unsaved.empty()) {
      saving.problem = "worker " + std::to_string(ref.index) + ": " + member->unsaved;
    }
    saving.step = std::max(saving.step, member->saved_step);
  }
  return saving;
}

std::optional<model::TrainingProgress> progress_of(
    const std::optional<model::TrainingMembership>& membership, const AgentWord& word,
    const std::optional<model::TrainingProgress>& before) {
  if (!membership) {
    return std::nullopt;
  }
  std::optional<model::TrainingProgress> progress;
  for (const model::TrainingMember& ref : membership->members) {
    const elastic::Member* member = word.member_of(ref.pod);
    if (member == nullptr || member->step == 0) {
      continue;
    }
    if (!progress || member->step > progress->step) {
      const std::optional<std::int64_t> saved = progress ? progress->saved_step : std::nullopt;
      progress.emplace();
      progress->step = member->step;
      progress->samples_per_second = member->samples_per_second;
      progress->step_seconds = member->step_seconds;
      progress->loss = member->loss;
      progress->remaining_samples = member->remaining_samples;
      progress->saved_step = saved;
    }
    if (member->saved_step > progress->saved_step.value_or(0)) {
      progress->saved_step = member->saved_step;
    }
  }
  if (progress && before && before->saved_step > progress->saved_step) {
    progress->saved_step = before->saved_step;
  }
  return progress;
}

}  // namespace codeflare::controllers::trainingjob
