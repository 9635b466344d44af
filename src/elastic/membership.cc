#include "elastic/membership.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::elastic {

namespace {

// The standing of a member of the current generation.
enum class Standing : std::uint8_t { fine, forming, failed, leaving, gone };

class Decider {
 public:
  explicit Decider(const MembershipFacts& facts) : facts_(facts), current_(facts.current) {}

  MembershipDecision decide() {
    if (current_.reason == reason::kFinish) {
      return {};
    }
    if (facts_.suspended) {
      return current_.members.empty() ? MembershipDecision{}
                                      : publish({}, reason::kPause, "suspended");
    }
    if (is_complete()) {
      return publish({}, reason::kFinish, "every member is done");
    }
    judge_members();
    if (gone_.empty() && failed_.empty() && !leaving_.empty() && forming_ && !is_late()) {
      // Members that join have no state before the group has begun: those that leave may hold the
      // only one.
      MembershipDecision wait = look_at(current_.not_after);
      wait.message = "shrinks when generation " + std::to_string(current_.generation) + " trains";
      return wait;
    }
    if (const MemberRef* holder = only_holder()) {
      return hand_over(*holder);
    }
    if (!gone_.empty() || !failed_.empty() || !leaving_.empty()) {
      return change_now();
    }
    return grow();
  }

 private:
  // Pods and members are sorted by index.
  const PodFacts* pod_at(std::int32_t index) const {
    auto at = std::ranges::lower_bound(facts_.pods, index, {}, &PodFacts::index);
    return at == facts_.pods.end() || at->index != index ? nullptr : &*at;
  }
  const PodFacts* pod_of(const MemberRef& ref) const {
    const PodFacts* pod = pod_at(ref.index);
    return pod == nullptr || pod->uid != ref.pod ? nullptr : pod;
  }
  static bool has(const std::vector<MemberRef>& members, std::int32_t index,
                  const std::string& pod) {
    auto at = std::ranges::lower_bound(members, index, {}, &MemberRef::index);
    return at != members.end() && at->index == index && at->pod == pod;
  }
  static bool is_alive(const PodFacts& pod) { return !pod.ended && !pod.lost; }

  // With the library one member that is done proves that the whole group is: none could make the
  // last step alone. Members of a newer generation that never trained are not waited for.
  bool is_complete() const {
    bool proven = false;  // a member with the library is done
    bool every_done = !current_.members.empty();
    bool any_trains = false;  // with the library
    for (const MemberRef& ref : current_.members) {
      const PodFacts* pod = pod_of(ref);
      const Member* member = pod == nullptr || !pod->member ? nullptr : &*pod->member;
      const bool done = member != nullptr && member->state == MemberState::done;
      every_done = every_done && done;
      if (member == nullptr || !member->library) {
        continue;
      }
      proven = proven || done;
      any_trains = any_trains || (is_alive(*pod) && (member->state == MemberState::running ||
                                                     member->state == MemberState::stopping));
    }
    return every_done || (proven && !any_trains);
  }

  Standing standing_of(const MemberRef& ref) const {
    const PodFacts* pod = pod_of(ref);
    if (pod == nullptr || !is_alive(*pod)) {
      return Standing::gone;
    }
    const bool current = pod->member && pod->member->generation == current_.generation;
    const MemberState state = pod->member ? pod->member->state : MemberState::starting;
    if (current && state == MemberState::left) {
      return Standing::gone;
    }
    if (pod->leaving) {
      return Standing::leaving;
    }
    if (current && state == MemberState::failed) {
      return Standing::failed;
    }
    if (state == MemberState::done || (current && state == MemberState::running)) {
      return Standing::fine;
    }
    const bool ready = current && (state == MemberState::ready || state == MemberState::hosting);
    return !ready && is_late() ? Standing::gone : Standing::forming;
  }

  bool is_late() const {
    const Result<WallTime> end = parse_rfc3339(current_.not_after);
    return end && facts_.now > *end;
  }

  void judge_members() {
    for (const MemberRef& ref : current_.members) {
      switch (standing_of(ref)) {
        case Standing::gone:
          gone_.push_back(ref);
          break;
        case Standing::leaving:
          leaving_.push_back(ref);
          break;
        case Standing::failed:
          failed_.push_back(ref);
          stay_.push_back(ref);
          break;
        case Standing::forming:
          forming_ = true;
          stay_.push_back(ref);
          break;
        case Standing::fine:
          stay_.push_back(ref);
          break;
      }
    }
  }

  // The member that leaves and has most steps, if none that stays has as many.
  const MemberRef* only_holder() {
    const MemberRef* holder = nullptr;
    std::int64_t most = 0;
    for (const MemberRef& ref : leaving_) {
      const PodFacts* pod = pod_of(ref);
      if (pod->member && pod->member->library && pod->member->step > most) {
        holder = &ref;
        most = pod->member->step;
      }
    }
    if (holder == nullptr && facts_.round && facts_.round->library && !is_late()) {
      holder = silent_leaver();
      most = 1;
      begins_ = holder != nullptr;
    }
    for (const MemberRef& ref : stay_) {
      const std::optional<Member>& member = pod_of(ref)->member;
      if (!member) {
        continue;
      }
      // A member runs from the round on, and has the state from its first step on. Its last report
      // may be a moment old: a group that runs for long needs no report.
      const bool runs =
          member->generation == current_.generation && member->state == MemberState::running;
      if (member->state == MemberState::done || member->step >= most || (runs && is_late())) {
        return nullptr;
      }
      begins_ = begins_ || runs;
    }
    return holder;
  }

  // A worker that starts anew has not said yet how many steps it found.
  const MemberRef* silent_leaver() const {
    const auto at = std::ranges::find_if(leaving_, [this](const MemberRef& ref) {
      const std::optional<Member>& member = pod_of(ref)->member;
      return !member || !member->library;
    });
    return at == leaving_.end() ? nullptr : &*at;
  }

  // It stays until another member trains with its state; then the group shrinks.
  MembershipDecision hand_over(const MemberRef& holder) {
    const Newcomers fresh = newcomers();
    if (begins_ && gone_.empty() && failed_.empty()) {
      return {.message = "shrinks when generation " + std::to_string(current_.generation) +
                         " has made a step",
              .look_again = facts_.now + std::chrono::seconds(1)};
    }
    if (stay_.empty() && fresh.ready.empty()) {
      const bool patient =
          fresh.missing > 0 && facts_.growth_deadline && facts_.now < *facts_.growth_deadline;
      return patient ? MembershipDecision{.message = "shrinks when a worker that stays has joined",
                                          .look_again = facts_.growth_deadline}
                     : change_now();
    }
    const MemberRef keeps = holder;
    std::erase(leaving_, keeps);
    stay_.insert(std::ranges::lower_bound(stay_, keeps.index, {}, &MemberRef::index), keeps);
    MembershipDecision decision = change_now();
    if (decision.next && decision.next->reason == reason::kShrink) {
      decision.next->reason = reason::kReplace;
    }
    return decision;
  }

  // The membership may be newer than the round: a member that never trained proves nothing.
  bool last_group_is_over(const std::vector<MemberRef>& next) const {
    if (facts_.fenced || !facts_.round || facts_.round->ranks.empty()) {
      return true;
    }
    return std::ranges::any_of(facts_.round->ranks, [&](const RoundRank& rank) {
      const PodFacts* pod = pod_at(rank.index);
      if (pod == nullptr || !pod->member || pod->member->agent != rank.agent || pod->ended) {
        return true;  // another life, or none: its workers died with it
      }
      const Member& member = *pod->member;
      const bool left =
          member.generation > facts_.round->generation
              ? member.state != MemberState::stopping
              : member.state == MemberState::left || member.state == MemberState::done;
      return left || has(next, pod->index, pod->uid);
    });
  }

  // Registered pods that are not members yet, and the number of pods that have not registered.
  struct Newcomers {
    std::vector<MemberRef> ready{};
    std::int32_t missing = 0;
  };
  Newcomers newcomers() const {
    Newcomers all;
    for (const PodFacts& pod : facts_.pods) {
      if (pod.leaving || pod.ended || has(stay_, pod.index, pod.uid)) {
        continue;
      }
      const bool waits = pod.member && is_alive(pod) &&
                         (pod.member->state == MemberState::registered ||
                          (pod.member->state == MemberState::failed && stay_.empty()));
      if (waits && !has(gone_, pod.index, pod.uid)) {
        all.ready.push_back({.index = pod.index, .pod = pod.uid});
      } else {
        ++all.missing;
      }
    }
    return all;
  }

  MembershipDecision change_now() {
    RestartCounts counted;
    std::string why;
    for (const MemberRef& ref : failed_) {
      const Member& member = *pod_of(ref)->member;
      (member.exit_class == ExitClass::user ? counted.user : counted.infrastructure) += 1;
      why += "worker " + std::to_string(ref.index) +
             " failed: " + std::string(to_string(member.exit_class)) + "; ";
    }
    for (const MemberRef& ref : gone_) {
      counted.infrastructure += 1;
      why += "worker " + std::to_string(ref.index) + " is lost; ";
    }
    for (const MemberRef& ref : leaving_) {
      why += "worker " + std::to_string(ref.index) + " leaves; ";
    }
    const bool replace = !failed_.empty() || !gone_.empty();
    counted.scaling += leaving_.empty() ? 0 : 1;
    MembershipDecision decision = publish(
        with(newcomers().ready), replace ? reason::kReplace : reason::kShrink, std::move(why));
    if (decision.next) {
      decision.counted = counted;
    }
    return decision;
  }

  MembershipDecision grow() {
    const Newcomers fresh = newcomers();
    const bool patient = !facts_.growth_deadline || facts_.now < *facts_.growth_deadline;
    if (forming_ && is_late() && !current_.members.empty()) {
      // All are ready and nobody wrote the round.
      return publish(stay_, reason::kReplace, "the group was not formed in time");
    }
    if (fresh.ready.empty() && fresh.missing == 0) {
      return forming_ ? look_at(current_.not_after) : MembershipDecision{};
    }
    if (forming_ && !current_.members.empty()) {
      return look_at(current_.not_after);
    }
    if (fresh.ready.empty() || (fresh.missing > 0 && patient)) {
      return {.message = "waits for " + std::to_string(fresh.missing) + " pods to register",
              .look_again = patient ? facts_.growth_deadline : std::nullopt};
    }
    const std::vector<MemberRef> next = with(fresh.ready);
    if (next.size() <= stay_.size() || static_cast<std::int32_t>(next.size()) < facts_.size_min) {
      return {.message = std::to_string(next.size()) + " pods have registered, " +
                         std::to_string(facts_.size_min) + " are needed"};
    }
    const bool start = current_.members.empty();
    MembershipDecision decision =
        publish(next, start ? reason::kStart : reason::kGrow,
                std::to_string(next.size() - stay_.size()) + " pods have registered");
    decision.counted.scaling = start || !decision.next ? 0 : 1;
    return decision;
  }

  static MembershipDecision look_at(const std::string& not_after) {
    const Result<WallTime> when = parse_rfc3339(not_after);
    return {.look_again = when ? std::optional(*when + std::chrono::seconds(1)) : std::nullopt};
  }

  // The members that stay, and as many of the others as an allowed size has room for.
  std::vector<MemberRef> with(const std::vector<MemberRef>& more) const {
    std::vector<MemberRef> all = stay_;
    all.insert(all.end(), more.begin(), more.end());
    const auto size = static_cast<std::int32_t>(all.size());
    const std::int32_t allowed = facts_.allowed ? facts_.allowed(size) : size;
    // New ones are at the end: they go first.
    all.resize(static_cast<std::size_t>(std::clamp(allowed, 0, size)));
    std::ranges::sort(all, {}, &MemberRef::index);
    return all;
  }

  MembershipDecision publish(std::vector<MemberRef> members, std::string_view why,
                             std::string message) const {
    if (static_cast<std::int32_t>(members.size()) < facts_.size_min && why != reason::kFinish) {
      members.clear();
      why = reason::kPause;
    }
    if (members.empty() && current_.members.empty() && why == reason::kPause) {
      return {.message = std::move(message)};
    }
    if (!members.empty() && !last_group_is_over(members)) {
      return {.message = "no member of generation " + std::to_string(facts_.round->generation) +
                         " answers, and its processes may still train"};
    }
    Membership next{.generation = current_.generation + 1,
                    .reason = std::string(why),
                    .members = std::move(members)};
    if (!next.members.empty()) {
      next.not_after = to_rfc3339(facts_.now + facts_.ready_patience);
    }
    return {.next = std::move(next), .message = std::move(message)};
  }

  const MembershipFacts& facts_;
  const Membership& current_;
  std::vector<MemberRef> stay_;
  std::vector<MemberRef> failed_;  // stay too, with new workers
  std::vector<MemberRef> gone_;
  std::vector<MemberRef> leaving_;
  bool forming_ = false;
  bool begins_ = false;  // a member is about to report its steps
};

}  // namespace

MembershipDecision decide_membership(const MembershipFacts& facts) {
  return Decider(facts).decide();
}

void LeaseJudge::see(const std::string& lease, const std::string& renewed, Instant now) {
  Seen& seen = seen_[lease];
  if (seen.renewed != renewed || seen.at == Instant{}) {
    seen = {.renewed = renewed, .at = now};
  }
}

bool LeaseJudge::has_run_out(const std::string& lease, Duration ttl, Instant now) const {
  auto at = seen_.find(lease);
  return at != seen_.end() && now - at->second.at > ttl;
}

}  // namespace codeflare::elastic
