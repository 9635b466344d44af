#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/result.h"
#include "model/key_map.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace codeflare::runtime {

using model::ObjectKey;

struct WorkQueueOptions {
  // Of one key's failures in a row: 5 ms, 10 ms, ... up to the cap.
  Duration backoff_initial = std::chrono::milliseconds(5);
  Duration backoff_max = std::chrono::seconds(1000);
};

// Keys waiting for a worker. A key is with at most one worker at a time; a key added while it waits
// is there once; a key added while a worker has it is handed out once more after done(). Delayed
// adds keep the earliest time. Only retries are slowed down, never ordinary events.
//   Result<ObjectKey> key = co_await queue.take(); ... queue.done(*key);
class WorkQueue {
 public:
  explicit WorkQueue(Env env, WorkQueueOptions options = {});
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(const ObjectKey& key);
  void add_after(const ObjectKey& key, Duration delay);
  // After the key's own backoff, which doubles with each call until forget().
  void add_rate_limited(const ObjectKey& key);
  void forget(const ObjectKey& key);
  int failures(const ObjectKey& key) const;

  // Waits for a key; fails with `cancelled` on stop and `unavailable` after shut_down().
  Task<Result<ObjectKey>> take();
  void done(const ObjectKey& key);

  // No more keys are handed out; waiting workers end.
  void shut_down();

  std::size_t depth() const { return ready_.size(); }
  std::size_t in_work() const { return working_.size(); }
  std::size_t delayed() const { return delayed_.size(); }

  // Told about each step; the controller feeds its metrics from it.
  struct Observer {
    virtual ~Observer() = default;
    virtual void added() {}
    virtual void retried() {}
    virtual void taken(Duration /*waited*/) {}
    virtual void finished(Duration /*worked*/) {}
  };
  void set_observer(Observer* observer) { observer_ = observer; }
  // How long the keys now in work have been there: all together, and the longest.
  Duration unfinished_work() const;
  Duration longest_running() const;

 private:
  struct Waiting {
    ObjectKey key;
    Instant since;
  };
  void push(const ObjectKey& key);
  void drop_delay(const ObjectKey& key);

  Env env_;
  WorkQueueOptions options_;
  std::deque<Waiting> ready_;
  model::KeySet dirty_;  // waiting, or to be handed out again after done()
  model::KeyMap<Instant> working_;
  model::KeyMap<TimerId> delayed_;
  model::KeyMap<int> failures_;
  bool shut_down_ = false;
  WaitList available_;
  Observer* observer_ = nullptr;
};

}  // namespace codeflare::runtime
