#pragma once

#include "base/time.h"
#include "model/gvk.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace codeflare::runtime {

// The subject of an event.
struct EventSubject {
  model::GroupVersionKind gvk;
  model::ObjectKey key;
  std::string uid;
  std::string resource_version;
};

struct EventRecord {
  EventSubject subject;
  bool warning = false;
  std::string reason;
  std::string message;
};

// Decides, without I/O, what becomes of an event, as client-go does: the same event again raises
// the count of the first; more than ten alike but for the message within ten minutes become one
// "(combined from similar events)"; and one object may not flood the server (25 at once, then one
// in five minutes).
class EventCorrelator {
 public:
  struct Decision {
    enum class Kind : std::uint8_t { create, count, drop };
    Kind kind = Kind::create;
    std::string key;      // names the series; pass it to created()
    std::string message;  // possibly rewritten
    std::int64_t count = 1;
    WallTime first;
    std::string event_name;  // of the existing event, for `count`
  };

  Decision decide(const EventRecord& record, WallTime now);
  // After the server has stored a new event of this series.
  void created(const std::string& series, std::string event_name);
  // After the server said that it no longer has the event that was to be counted.
  void lost(const std::string& series);

  std::size_t size() const { return series_.size() + similar_.size() + buckets_.size(); }

 private:
  struct Series {
    std::string event_name;
    std::int64_t count = 0;
    WallTime first;
    WallTime last;
  };
  struct Similar {
    std::set<std::string> seen;  // distinct messages, up to the threshold
    WallTime last;
  };
  struct Bucket {
    double tokens = 25;
    WallTime last;
  };

  bool allow(const EventRecord& record, WallTime now);
  void forget_old(WallTime now);

  std::map<std::string, Series> series_;
  std::map<std::string, Similar> similar_;
  std::map<std::string, Bucket> buckets_;
  std::optional<WallTime> swept_;
};

}  // namespace codeflare::runtime
