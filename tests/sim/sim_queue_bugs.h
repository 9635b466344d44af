#pragma once

#include "base/async/task.h"
#include "net/http.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::sim {

// Bugs of the queue that the simulation must find when they are there.
enum class QueueBug : std::uint8_t {
  none,
  intent_not_kept,     // work is started although its plan was never written
  item_made_twice,     // each wrapped object is created under a second name too
  binding_not_sent,    // some pods are taken for bound and are not
  quota_misread,       // quota limits look larger than they are
  node_misread,        // nodes look larger than they are
  deletion_not_heard,  // pods that are gone seem to be there
  item_not_seen,       // wrapped Jobs seem to be gone
  node_not_heard,      // one node seems not to be there
};

// The server as a queue with this bug takes it to be: what such a queue would not write is only
// tried, what it would not hear of is left out. The target outlives this.
class BuggyService final : public net::HttpService {
 public:
  BuggyService(net::HttpService& target, QueueBug bug) : target_(target), bug_(bug) {}

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  Task<Result<net::Response>> watch(net::Request request);
  Task<Result<net::Response>> write(net::Request request);
  // Whether the event reaches the queue, perhaps with another text.
  bool hears(std::string_view path, std::string_view type, std::string& object) const;
  bool only_tries(std::string_view path, std::string_view method, std::string_view body);

  net::HttpService& target_;
  QueueBug bug_;
  std::uint64_t bindings_ = 0;
};

}  // namespace codeflare::sim
