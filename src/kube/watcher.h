#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::kube {

// The next step of a cache. Between init_begin and init_done the objects of a fresh list arrive,
// each once; what is not among them has been deleted meanwhile. When a list breaks off it begins
// again with another init_begin: what came since the last one does not count.
struct WatcherEvent {
  enum class Type : std::uint8_t { init_begin, init_object, init_done, applied, deleted, progress };
  Type type = Type::progress;
  ObjectRef object;              // init_object, applied, deleted
  std::string resource_version;  // init_done, applied, deleted, progress: seen up to here
};

struct WatcherOptions {
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  bool metadata_only = false;
  std::int64_t page_limit = 500;
  // Ask for the initial objects as a stream; falls back to lists for a server that rejects this.
  bool watch_list = true;
  Duration backoff_initial = std::chrono::milliseconds(800);
  Duration backoff_max = std::chrono::seconds(30);
  Logger* logger = nullptr;
};

// List and watch indefinitely, as an explicit state machine:
//   empty -> listing (pages) | streaming initial events -> watching(rv) -> ...
// It survives cut streams, 410, 429, 5xx, silent connections (a deadline of the asked timeout plus
// a little) and servers without bookmarks or WatchList, loses no event and doubles none. Faults are
// waited out with a backoff of its own and told to the logger; next() fails only when cancelled.
class Watcher {
 public:
  Watcher(Client& client, ResourceType type, WatcherOptions options);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  Task<Result<WatcherEvent>> next();

  // The latest fault while not synced, so that "why is this controller not ready" has an answer.
  const std::optional<Error>& last_error() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace codeflare::kube
