#pragma once

#include "base/async/channel.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "kube/client.h"
#include "runtime/event_correlator.h"

#include <cstddef>
#include <string>

namespace codeflare::runtime {

// Tells people what happens to an object through core/v1 Events. record() never waits and never
// fails: events are help, not state. run() writes them; events that the server rejects are dropped.
class EventRecorder {
 public:
  EventRecorder(Env env, kube::Client& client, std::string component);

  void normal(EventSubject subject, std::string reason, std::string message);
  void warning(EventSubject subject, std::string reason, std::string message);
  void record(EventRecord record);

  // Until stopped; what is queued then is still written, within a few seconds.
  Task<void> run();

  std::size_t dropped() const { return dropped_; }

 private:
  Task<void> write(EventRecord record);
  Task<Result<void>> write_once(EventRecord record, EventCorrelator::Decision decision);
  std::string new_event(const EventRecord& record, const EventCorrelator::Decision& decision,
                        std::string_view name) const;

  Env env_;
  kube::Client& client_;
  std::string component_;
  EventCorrelator correlator_;
  Channel<EventRecord> queue_{1000};
  std::size_t dropped_ = 0;
};

}  // namespace codeflare::runtime
