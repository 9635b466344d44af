#pragma once

#include "base/async/channel.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "controllers/appwrapper/queue_metrics.h"
#include "kube/client.h"
#include "queue/queue.h"
#include "runtime/event_recorder.h"

#include <cstddef>
#include <functional>
#include <string>

namespace codeflare::controllers {

// Writes what the queue decided about pods: binds them to their nodes, and tells pods without a
// node why. A Binding that fails goes back to the queue once the server says that the pod is not
// bound.
class PodBinder {
 public:
  struct Options {
    std::size_t in_flight = 32;
    runtime::EventRecorder* events = nullptr;  // of pods without a node; may be null
    Logger logger{};
    // The queue may decide anew: a Binding came back.
    std::function<void()> changed;
  };
  PodBinder(Env env, kube::Client& client, queue::Queue& queue, QueueMetrics& metrics,
            Options options);

  void bind(queue::Binding binding);
  // The pod with this UID has no node. False: too many wait already.
  bool tell_unplaced(const std::string& uid);

  // Starts the work in the group, which ends before this.
  void start(TaskGroup& group);

 private:
  Task<void> bind_pods(TaskGroup& group);
  Task<void> bind(queue::Binding binding, TaskGroup& group);
  Task<void> look_after(queue::Binding binding);
  Task<void> tell_unplaced_pods();

  Env env_;
  kube::Client& client_;
  queue::Queue& queue_;
  QueueMetrics& metrics_;
  Options options_;
  Channel<queue::Binding> bindings_;
  Channel<std::string> unplaced_;
};

}  // namespace codeflare::controllers
