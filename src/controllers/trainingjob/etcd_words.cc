#include "controllers/trainingjob/etcd_words.h"

#include "base/async/sleep.h"

#include <chrono>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

using elastic::StoreEntry;
using elastic::StoreKey;

constexpr Duration kPause = std::chrono::milliseconds(500);
constexpr Duration kPatience = std::chrono::seconds(5);
constexpr Duration kProgressPause = std::chrono::seconds(5);

const StoreEntry* find(const std::map<std::string, StoreEntry>& documents, const StoreKey& key) {
  const auto at = documents.find(key.to_string());
  return at == documents.end() || !at->second.value ? nullptr : &at->second;
}

}  // namespace

AgentWord EtcdWords::of(const model::TrainingJob& job, const std::vector<WorkerPod>& pods,
                        Instant now) {
  Known& known = known_[job.metadata.uid];
  if (known.store == nullptr) {
    known.key = job.metadata.key();
    known.store = std::make_shared<elastic::EtcdStore>(env_, etcd_, job.metadata.uid);
  }
  AgentWord word;
  word.progress_due = !known.progress_at || now - *known.progress_at >= kProgressPause;
  // There are no Leases to be made.
  word.has_round_lease = true;
  if (job.status.plan) {
    for (const model::TrainingPlace& place : job.status.plan->places) {
      word.leases.insert(place.index);
    }
  }
  if (const StoreEntry* round = find(known.documents, StoreKey::round())) {
    if (Result<elastic::Round> read = elastic::parse_round(*round->value)) {
      word.round = *std::move(read);
    }
  }
  for (const WorkerPod& pod : pods) {
    const StoreEntry* entry =
        find(known.documents, StoreKey::member(static_cast<std::int32_t>(pod.index)));
    Result<elastic::Member> member =
        entry == nullptr ? fail(not_found("no document")) : elastic::parse_member(*entry->value);
    if (member && member->pod == pod.uid) {
      known.registered.insert(pod.uid);
      word.members.emplace(pod.uid, *std::move(member));
    } else if (known.registered.contains(pod.uid)) {
      word.lost.insert(pod.uid);  // its lease has run out
    }
  }
  return word;
}

std::string EtcdWords::problem(const std::string& job_uid) const {
  const auto at = known_.find(job_uid);
  if (at == known_.end() || (!at->second.read && at->second.problem.empty())) {
    return "etcd was not read yet";
  }
  return at->second.problem;
}

void EtcdWords::progress_written(const std::string& job_uid, Instant now) {
  if (const auto at = known_.find(job_uid); at != known_.end()) {
    at->second.progress_at = now;
  }
}

Task<Result<void>> EtcdWords::publish(std::string job_uid, elastic::Membership membership) {
  const auto at = known_.find(job_uid);
  if (at == known_.end()) {
    co_return Result<void>();
  }
  const std::shared_ptr<elastic::EtcdStore> store = at->second.store;
  CO_TRY_ASSIGN(const StoreEntry there,
                co_await with_timeout(kPatience, "etcd", store->get(StoreKey::membership())));
  if (there.value) {
    const Result<elastic::Membership> old = elastic::parse_membership(*there.value);
    if (old && old->generation >= membership.generation) {
      co_return Result<void>();
    }
  }
  std::string text = model::to_json_text(membership);
  co_return co_await with_timeout(
      kPatience, "etcd", store->swap(StoreKey::membership(), std::move(text), there.version));
}

Task<Result<void>> EtcdWords::end(model::ObjectKey job) {
  for (auto at = known_.begin(); at != known_.end(); ++at) {
    if (at->second.key == job) {
      const std::shared_ptr<elastic::EtcdStore> store = at->second.store;
      known_.erase(at);
      co_return co_await with_timeout(kPatience, "etcd", store->clear());
    }
  }
  co_return Result<void>();
}

Task<Result<void>> EtcdWords::read(std::string job_uid) {
  const auto at = known_.find(job_uid);
  if (at == known_.end()) {
    co_return Result<void>();
  }
  const std::shared_ptr<elastic::EtcdStore> store = at->second.store;
  auto documents = co_await with_timeout(kPatience, "etcd", store->list());
  const auto still = known_.find(job_uid);
  if (still == known_.end()) {
    co_return Result<void>();
  }
  Known& known = still->second;
  const std::string problem = documents ? "" : "etcd does not answer: " + documents.error().message;
  bool changed = problem != known.problem;
  known.problem = problem;
  if (documents) {
    changed = changed || !known.read || known.documents != *documents;
    known.read = true;
    known.documents = *std::move(documents);
  }
  if (changed) {
    changed_(known.key);
  }
  co_return problem.empty() ? Result<void>() : fail(unavailable(problem));
}

Task<void> EtcdWords::run() {
  while (co_await sleep_for(kPause)) {
    std::vector<std::string> uids;
    for (const auto& [uid, known] : known_) {
      uids.push_back(uid);
    }
    for (std::string& uid : uids) {
      if (!co_await read(std::move(uid))) {
        break;  // the others would wait as long
      }
    }
  }
}

}  // namespace codeflare::controllers::trainingjob
