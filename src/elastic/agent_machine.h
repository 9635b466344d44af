#pragma once

#include "base/env/children.h"
#include "base/time.h"
#include "elastic/documents.h"
#include "elastic/messages.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace codeflare::elastic {

// Exit codes of an agent. Others are those of a worker: 1 to 127 the program is wrong, from 128 on
// a retry may help.
inline constexpr int kExitSuccess = 0;
inline constexpr int kExitLeft = 3;

struct AgentIdentity {
  std::int32_t index = 0;
  std::string pod;    // UID
  std::string agent;  // of this life
  std::string address;
  std::int32_t nproc = 1;
  Duration grace = std::chrono::seconds(30);  // from notice to SIGKILL
  // No step for ten times the median is a stall, but no sooner than this; zero: never.
  Duration stall_min = std::chrono::minutes(2);
};

// Actions, each to be done once and in this order.
struct StartWorker {
  std::int32_t local_rank = 0;
  std::optional<Round> round{};  // nothing: started ahead, it gets the round by message
};
struct SignalWorker {
  std::int32_t local_rank = 0;
  int number = 0;
};
struct SendWorker {
  std::int32_t local_rank = 0;
  std::string line{};
};
// A free port of the pod, answered by on_port().
struct PickPort {
  std::int64_t generation = 0;
};
using AgentAction = std::variant<StartWorker, SignalWorker, SendWorker, PickPort>;

// The mind of an agent: facts in, actions out, no I/O. Beside the actions it has wishes that stay
// until they are true: the document to put, the round to write, whom to watch, when to be called
// again, and with which code to end.
//
//   registered ──membership g with us──> [stopping] ──old workers gone or idle──> ready(g)
//       ^                                    ^                                       │
//       │ pause                              │ membership g' > g                     │ round(g)
//       with us
//   [stopping] <── membership without us ────┤                                       v
//       v                                    └───────────────────────────────── running(g)
//     left ──SIGTERM──> end 3                            all workers end with 0: done(g), Finish:
//     end 0
//                                                        one fails or stalls: failed(g)
//
// The lowest member also writes the round, when all are ready(g): for workers with the library once
// its first worker hosts the store. Rules 1 to 5 of docs/decisions/0014 hold whatever the order of
// facts: settle() looks at all of them after each.
class AgentMachine {
 public:
  explicit AgentMachine(AgentIdentity identity);

  // --- facts ---
  void on_membership(Membership membership, Instant now);
  void on_round(Round round, Instant now);
  void on_member(std::int32_t index, std::optional<Member> member, Instant now);
  void on_port(std::int64_t generation, std::int32_t port, Instant now);
  void on_message(std::int32_t local_rank, const WorkerMessage& message, Instant now);
  struct WorkerEnd {
    ChildExit exit{};
    bool out_of_memory = false;
    std::string last_lines{};
  };
  void on_exit(std::int32_t local_rank, const WorkerEnd& end, Instant now);
  void on_start_failed(std::int32_t local_rank, const Error& error, Instant now);
  void on_terminate(Instant now);
  void on_time(Instant now);

  // --- what is to be done ---
  std::vector<AgentAction> take_actions();
  const Member& document() const { return document_; }
  const std::optional<Round>& round_to_write() const { return round_to_write_; }
  // Members whose documents the lowest one needs; empty for others.
  const std::set<std::int32_t>& watched() const { return watched_; }
  // When on_time() is due at the latest.
  std::optional<Instant> deadline() const;
  std::optional<int> exit_code() const { return exit_code_; }

  std::int64_t generation() const { return membership_.generation; }

 private:
  struct Worker {
    bool alive = false;
    bool library = false;        // said hello
    std::int64_t group = 0;      // generation that it trains in; 0: none
    std::int64_t begun = -1;     // generation for which it was started last
    std::int64_t done_in = 0;    // generation whose training it completed
    std::int64_t step = 0;       // committed, as far as it said
    bool noticed = false;        // since it joined its group
    bool stays = true;           // by the last notice
    std::int64_t notice_of = 0;  // generation of the last notice
    std::optional<Instant> kill_at{};
    bool killed = false;
  };

  void settle(Instant now);
  bool is_member() const;
  bool is_leader() const;
  bool is_over() const { return terminating_ || membership_.reason == reason::kFinish; }
  bool all_done_in(std::int64_t generation) const;
  bool has_failed() const;

  // --- parts of settle(), in its order ---
  void kill_late_workers(Instant now);
  void replace_silent_host(Instant now);
  bool stop_workers(Instant now);
  // Nothing: it may go on. Else whether it stays in its process.
  std::optional<bool> must_leave(const Worker& worker) const;
  void notify_worker(std::int32_t local_rank, bool stay, Instant now);
  void end();
  void wait_outside(Instant now);
  bool start_ahead(Instant now);
  void follow_membership(Instant now);
  void join_round(Instant now);
  void watch_group();
  void become_ready(Instant now);
  void lead(Instant now);
  std::optional<Round> agreed_round() const;

  void check_stall(Instant now);
  std::optional<Instant> stall_at() const;
  void report(MemberState state, std::int64_t generation);
  void tell_unsaved(std::string tier, std::string_view why);  // no tier: it is saved
  void fail_group(std::int64_t generation, ExitClass why, std::int32_t code, std::string message);
  RoundForWorker round_for(std::int32_t local_rank) const;
  Worker* find(std::int32_t local_rank);

  AgentIdentity identity_;
  Membership membership_;
  std::optional<Round> round_;
  std::map<std::int32_t, Member> members_;
  std::vector<Worker> workers_;
  Member document_;
  std::vector<AgentAction> actions_;
  std::optional<Round> round_to_write_;
  std::set<std::int32_t> watched_;
  std::optional<int> exit_code_;
  bool terminating_ = false;
  bool was_member_ = false;
  std::optional<Instant> left_at_;  // while it reports `left` and may be asked to end
  bool library_ = false;            // by our workers or by the last round
  std::int64_t port_asked_ = 0;
  std::int64_t port_of_ = 0;  // generation that document_.port is for
  std::int64_t host_asked_ = 0;
  std::optional<std::int32_t> hosted_port_;  // of host_asked_
  std::optional<Instant> host_by_;           // a worker that does not answer is replaced
  std::int64_t joined_ = 0;                  // generation whose round we have joined
  std::deque<double> step_seconds_;
  std::optional<Instant> last_step_;  // or the start of the group
  bool stalled_ = false;
  std::string unsaved_tier_;  // of document_.unsaved
};

}  // namespace codeflare::elastic
