#include "tests/sim/sim_training_world.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "elastic/membership.h"
#include "tests/elastic/training_cluster.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/sim_training_pod.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

namespace codeflare::sim {
namespace {

using elastic::StoreKey;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int32_t kPodsMax = 4;
constexpr Duration kTrouble = minutes(4);
constexpr Duration kPatience = minutes(40);
constexpr Duration kTtl = seconds(10);

class World {
 public:
  World(const Run& run, TrainingBug bug)
      : verbose_(run.verbose),
        bug_(bug),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
        cluster_(env_),
        judge_([this](const std::string& what) { say(what); }),
        group_(env_.loop),
        trouble_(env_.loop) {}

  Outcome run() {
    if (!codeflare::run(env_.loop, story())) {
      violations_.push_back("the simulation came to a standstill");
    }
    Outcome outcome{sim_.trace_hash(), std::move(violations_), counts_};
    outcome.violations.insert(outcome.violations.end(), judge_.violations().begin(),
                              judge_.violations().end());
    outcome.counts["steps"] += judge_.commits();
    outcome.counts["groups"] += judge_.groups();
    outcome.counts["repeated steps"] += judge_.repeated();
    for (const char* what : {"killed workers", "frozen workers", "restarted agents", "killed pods",
                             "cut off", "resizes"}) {
      outcome.counts[what] += 0;
    }
    return outcome;
  }

 private:
  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Duration up_to(Duration longest) { return sim::up_to(env_.random, longest); }
  bool is_well() const { return violations_.empty() && judge_.violations().empty(); }

  Task<void> story() {
    if (Result<void> started = co_await cluster_.start(kPodsMax); !started) {
      violations_.push_back("no server: " + started.error().to_string());
      co_return;
    }
    make_scene();
    group_.spawn(control());
    trouble_.spawn(make_trouble());
    const Instant end = after(env_.loop.now(), kTrouble);
    while (is_well() && env_.loop.now() < end) {
      (void)co_await sleep_for(seconds(1));
    }
    co_await trouble_.close();
    heal();
    co_await complete();
    co_await group_.close();
    pods_.clear();
    co_await cluster_.stop();
  }

  void make_scene() {
    const bool plain = bug_ == TrainingBug::none && pick(3) == 0;
    scene_ = std::make_unique<TrainingScene>(
        TrainingScene{.env = env_,
                      .service = cluster_.agents(),
                      .judge = judge_,
                      .say = [this](const std::string& what) { say(what); },
                      .steps = 600,
                      .library = !plain,
                      .faults = faults()});
    if (bug_ == TrainingBug::wrong_source) {
      scene_->tamper_round = [](const std::string& text) {
        elastic::Round round = *elastic::parse_round(text);
        round.source = round.world_size - 1;
        return model::to_json_text(round);
      };
    }
    store_ = std::make_unique<elastic::KubernetesStore>(
        cluster_.admin(), elastic::KubernetesStoreOptions{.ns = "default", .job = "bert"});
    wanted_ = 2;
  }

  net::LinkFaults faults() {
    return fault_mix(env_.random, {.lost_request = 0.03, .cut_stream = 0.5, .silent_stream = 0.1});
  }

  // --- the controller ---

  Task<void> control() {
    while (co_await sleep_for(milliseconds(250))) {
      add_and_remove_pods();
      // A failed read or write: the next pass looks again.
      (void)co_await decide();
    }
  }

  void add_and_remove_pods() {
    std::erase_if(pods_, [&](const std::unique_ptr<TrainingPod>& pod) {
      const bool gone = pod->ended() && membership_.find(pod->index()) == nullptr;
      if (gone) {
        leaving_.erase(pod->uid());
      }
      return gone;
    });
    for (std::int32_t index = 0; index < wanted_ && !finished_; ++index) {
      if (find(index) == nullptr) {
        pods_.push_back(
            std::make_unique<TrainingPod>(*scene_, index, "pod-" + std::to_string(++pods_made_)));
        group_.spawn(pods_.back()->run());
        growth_since_ = env_.clock.wall();
      }
    }
    for (const auto& pod : pods_) {
      if (pod->index() >= wanted_) {
        leaving_.insert(pod->uid());
      }
      // The pod is deleted once its member has left.
      if (leaving_.contains(pod->uid()) && membership_.find(pod->index()) == nullptr) {
        pod->terminate();
      }
    }
  }

  // A shrink alone loses nothing: of the members that stay one has as much as those that leave.
  void check_shrink(const elastic::Membership& next) {
    if (!scene_->library || next.members.empty()) {
      return;
    }
    std::int64_t kept = scene_->saved.newest();
    std::int64_t left = 0;
    for (const auto& pod : pods_) {
      const bool lost = pod->ended() || judge_of_leases_.has_run_out(
                                            elastic::member_name("bert", pod->index()) + pod->uid(),
                                            kTtl, env_.clock.now());
      const elastic::MemberRef* ref = next.find(pod->index());
      if (ref != nullptr && ref->pod == pod->uid()) {
        kept = std::max(kept, pod->state().step);
      } else if (!lost && leaving_.contains(pod->uid()) &&
                 membership_.find(pod->index()) != nullptr) {
        left = std::max(left, pod->state().step);
      }
    }
    if (kept < left) {
      judge_.complain("membership " + std::to_string(next.generation) + " has step " +
                      std::to_string(kept) + " and lets a worker with " + std::to_string(left) +
                      " go");
    }
  }

  TrainingPod* find(std::int32_t index) {
    auto at = std::ranges::find(pods_, index, [](const auto& pod) { return pod->index(); });
    return at == pods_.end() ? nullptr : at->get();
  }

  Task<Result<void>> decide() {
    CO_TRY_ASSIGN(const elastic::StoreEntry entry, co_await store_->get(StoreKey::membership()));
    if (entry.value) {
      CO_TRY_ASSIGN(membership_, elastic::parse_membership(*entry.value));
    }
    elastic::MembershipFacts facts{.current = membership_,
                                   .now = env_.clock.wall(),
                                   .growth_deadline = growth_since_ + seconds(45),
                                   .fenced = bug_ == TrainingBug::group_replaced_without_proof};
    CO_TRY_ASSIGN(const elastic::StoreEntry round, co_await store_->get(StoreKey::round()));
    if (round.value) {
      CO_TRY_ASSIGN(facts.round, elastic::parse_round(*round.value));
    }
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      CO_TRY_ASSIGN(elastic::PodFacts pod, co_await facts_of(*pods_[i]));
      facts.pods.push_back(std::move(pod));
    }
    std::ranges::sort(facts.pods, {}, &elastic::PodFacts::index);
    elastic::MembershipDecision decision = elastic::decide_membership(facts);
    if (decision.next) {
      CO_TRY(co_await store_->swap(StoreKey::membership(), model::to_json_text(*decision.next),
                                   entry.version));
      check_shrink(*decision.next);
      membership_ = *decision.next;
      say("membership " + std::to_string(membership_.generation) + " " + membership_.reason +
          " of " + std::to_string(membership_.members.size()) + ": " + decision.message);
      counts_["memberships"] += 1;
      finished_ = finished_ || membership_.reason == elastic::reason::kFinish;
      user_failures_ += decision.counted.user;
    }
    co_return Result<void>();
  }

  Task<Result<elastic::PodFacts>> facts_of(const TrainingPod& pod) {
    elastic::PodFacts facts{.index = pod.index(),
                            .uid = pod.uid(),
                            .leaving = leaving_.contains(pod.uid()),
                            .ended = pod.ended()};
    const std::string name = elastic::member_name("bert", facts.index);
    CO_TRY_ASSIGN(const kube::ObjectRef lease,
                  co_await cluster_.admin().get(elastic::leases(), {"default", name}));
    if (lease->string_at({"spec", "holderIdentity"}) != facts.uid) {
      co_return facts;
    }
    const std::string key = name + facts.uid;
    judge_of_leases_.see(key, lease->string_at({"spec", "renewTime"}), env_.clock.now());
    facts.lost = judge_of_leases_.has_run_out(key, kTtl, env_.clock.now());
    const std::string text =
        lease->string_at({"metadata", "annotations", elastic::kMemberAnnotation});
    if (Result<elastic::Member> member = elastic::parse_member(text)) {
      facts.member = *std::move(member);
      if (bug_ == TrainingBug::failures_not_heard &&
          facts.member->state == elastic::MemberState::failed) {
        facts.member->state = elastic::MemberState::running;
      }
      if (bug_ == TrainingBug::shrink_while_forming && membership_.find(facts.index) != nullptr) {
        facts.member->state = elastic::MemberState::running;
        facts.member->generation = membership_.generation;
      }
    }
    co_return facts;
  }

  // --- trouble ---

  Task<void> make_trouble() {
    while (co_await sleep_for(seconds(5) + up_to(seconds(25)))) {
      if (pods_.empty() || finished_) {
        continue;
      }
      const std::size_t at = pick(pods_.size());
      TrainingPod& pod = *pods_[at];
      const std::string who = " of pod " + std::to_string(pod.index());
      if (bug_ == TrainingBug::shrink_while_forming || pick(7) == 0) {
        co_await shrink_onto_newcomer();
        continue;
      }
      // That bug needs a group that is cut off as a whole, and somebody who could replace it.
      const bool isolate = bug_ == TrainingBug::group_replaced_without_proof;
      switch (isolate ? 4 + pick(2) : pick(6)) {
        case 0:
          note("killed workers", "worker killed" + who);
          pod.signal_worker(SIGKILL);
          break;
        case 1:
          // A plain process tells no steps: nobody would notice.
          note("frozen workers", "worker frozen" + who);
          pod.signal_worker(scene_->library ? SIGSTOP : SIGKILL);
          break;
        case 2:
          note("restarted agents", "agent restarted" + who);
          pod.restart_agent();
          break;
        case 3:
          note("killed pods", "killed: all" + who);
          pod.kill();
          break;
        case 4:
          note("cut off", "cut off: the store" + who);
          group_.spawn(cut_off(pod.uid(), seconds(5) + up_to(seconds(30))));
          break;
        default:
          wanted_ = 1 + static_cast<std::int32_t>(pick(kPodsMax));
          growth_since_ = env_.clock.wall();
          note("resizes", "wanted: " + std::to_string(wanted_));
      }
    }
  }

  // The first pod is lost. When the next one of its index has joined, all others have to go: they
  // hold the only state until the new group has begun.
  Task<void> shrink_onto_newcomer() {
    if (wanted_ < 2 || find(0) == nullptr) {
      wanted_ = 2;
      growth_since_ = env_.clock.wall();
      co_return;
    }
    note("killed pods", "killed: all of pod 0");
    const std::string lost = find(0)->uid();
    find(0)->kill();
    const Instant end = after(env_.loop.now(), minutes(2));
    while (env_.loop.now() < end && co_await sleep_for(milliseconds(50))) {
      const elastic::MemberRef* first = membership_.find(0);
      if (first != nullptr && first->pod != lost) {
        wanted_ = 1;
        note("resizes", "wanted: 1");
        co_return;
      }
    }
  }

  Task<void> cut_off(std::string uid, Duration time) {
    const auto with = [&](auto act) {
      for (const auto& pod : pods_) {
        if (pod->uid() == uid) {
          act(*pod);
        }
      }
    };
    with([](TrainingPod& pod) { pod.link().partition(); });
    (void)co_await sleep_for(time);
    with([this](TrainingPod& pod) {
      pod.link().heal();
      pod.link().set_faults(faults());
    });
  }

  void heal() {
    for (const auto& pod : pods_) {
      pod->link().heal();
    }
    scene_->faults = {};
    say("healed");
  }

  // --- the end ---

  Task<void> complete() {
    const Instant deadline = after(env_.loop.now(), kPatience);
    while (is_well() && !all_over() && env_.loop.now() < deadline) {
      (void)co_await sleep_for(seconds(1));
    }
    if (!is_well()) {
      co_return;
    }
    if (!all_over()) {
      violations_.push_back("the training is not complete long after the faults: step " +
                            std::to_string(judge_.last_step()) + ", generation " +
                            std::to_string(membership_.generation));
      co_return;
    }
    if (judge_.last_step() != scene_->steps) {
      violations_.push_back("complete at step " + std::to_string(judge_.last_step()));
    }
    if (user_failures_ != 0) {
      violations_.push_back("a fault of the world was counted as one of the user");
    }
    for (const auto& pod : pods_) {
      if (pod->exit_code() && *pod->exit_code() != elastic::kExitSuccess &&
          !leaving_.contains(pod->uid())) {
        violations_.push_back("pod " + std::to_string(pod->index()) + " ended with " +
                              std::to_string(*pod->exit_code()));
      }
    }
  }

  bool all_over() const {
    return finished_ && std::ranges::all_of(pods_, [](const auto& pod) { return pod->ended(); });
  }

  void note(const std::string& count, const std::string& what) {
    counts_[count] += 1;
    say(what);
  }

  void say(const std::string& what) {
    sim_.trace(what);
    if (verbose_) {
      const auto now = std::chrono::duration<double>(env_.loop.now().time_since_epoch()).count();
      std::printf("%9.3f %s\n", now, what.c_str());
    }
  }

  bool verbose_;
  TrainingBug bug_;
  SimEnv sim_;
  Env env_;
  elastic::testing::TrainingCluster cluster_;
  TrainingJudge judge_;
  std::unique_ptr<TrainingScene> scene_;
  std::unique_ptr<elastic::KubernetesStore> store_;
  elastic::LeaseJudge judge_of_leases_;
  elastic::Membership membership_;
  std::vector<std::unique_ptr<TrainingPod>> pods_;
  std::set<std::string> leaving_;
  std::int32_t wanted_ = 0;
  int pods_made_ = 0;
  bool finished_ = false;
  std::int64_t user_failures_ = 0;
  WallTime growth_since_{};
  TaskGroup group_;
  TaskGroup trouble_;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> violations_;
};

}  // namespace

Outcome run_training(const Run& run, TrainingBug bug) {
  return World(run, bug).run();
}

}  // namespace codeflare::sim
