#pragma once

#include "base/async/task.h"
#include "base/env/backoff.h"
#include "base/result.h"
#include "kube/internal/list_body.h"
#include "kube/watcher.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::kube {

// The states and what moves between them:
//
//   empty ──(list)──> listing ──last page──> watching ──end, cut, 429, 500──> watching (same rv)
//     │                  │ expired                │
//     └─(WatchList)─> streaming ──bookmark────────┘     410 or anything else: back to empty
//
// A request that was not answered changes nothing, so every state can be tried again.
class Watcher::Machine {
 public:
  Machine(Client& client, ResourceType type, WatcherOptions options);

  Task<Result<WatcherEvent>> next();
  const std::optional<Error>& last_error() const { return last_error_; }

 private:
  enum class State : std::uint8_t { empty, listing, streaming, watching };

  // One request or one event; what it yields is in ready_.
  Task<Result<void>> step();
  Task<Result<void>> list_page();
  Task<Result<void>> read_listed();
  Task<Result<void>> open_stream(std::string rv, bool initial_events);
  Task<Result<void>> read_initial_event();
  Task<Result<void>> read_event();
  Task<Result<std::optional<WatchEvent>>> next_event(Duration patience);

  void begin_init();
  void finish_init(std::string rv, std::string seen_up_to);
  void deliver_initial(ObjectRef object);
  void deliver(WatchEvent event);
  bool moves_on(const std::string& version) const;
  bool is_replay(const WatchEvent& event);
  void emit(WatcherEvent::Type type, ObjectRef object, std::string rv);
  Result<void> stream_ended();

  bool wants_stream() const;
  // Chooses the state after a failure; false when the next try needs no wait.
  bool recover(const Error& error);
  bool recover_listing(const Error& error);
  bool recover_streaming(const Error& error);
  void recover_watching(const Error& error);
  void start_over(std::string rv);
  void works_again();
  Task<Result<void>> wait_after(Error error);

  Client& client_;
  ResourceType type_;
  WatcherOptions options_;
  Backoff backoff_;
  State state_ = State::empty;
  std::deque<WatcherEvent> ready_;
  std::optional<Error> last_error_;
  std::optional<ErrorCode> warned_;  // the fault that the log has, while it lasts

  // How the next list begins: "0" takes what the server has at hand, a version takes nothing older,
  // "" is always possible and the most expensive.
  std::string relist_rv_ = "0";
  bool paged_ = true;
  std::string list_rv_;
  std::optional<internal::ListWalk> page_;  // of the list, as far as it is not delivered
  std::size_t listed_ = 0;                  // objects of it that were
  std::string continue_token_;
  bool tried_stream_ = false;  // what failed in state `empty`
  bool avoid_stream_ = false;  // until synced
  int stream_failures_ = 0;

  std::string rv_;                // everything up to here was delivered
  std::vector<WatchEvent> held_;  // changes that came before the initial events were complete
  bool synthetic_ = false;        // the open watch began without a version
  // Versions of this server can be compared, as far as seen: none of a list was newer than the list
  // and no event older than the one before.
  bool ordered_ = true;
  std::uint64_t initial_revision_max_ = 0;
  std::uint64_t opened_at_ = 0;       // the revision the open watch was asked for
  std::uint64_t event_revision_ = 0;  // of its latest event
  std::optional<Instant> internal_errors_since_;

  std::unique_ptr<WatchStream> stream_;
  Instant stream_opened_{};
  Instant stream_deadline_{};
  std::uint64_t stream_events_ = 0;
};

}  // namespace codeflare::kube
