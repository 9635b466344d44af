#pragma once

#include "sched/internal/matrix.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace codeflare::sched {

// Shapes asleep until the nodes can hold more pods of a kind. An alarm names the nap that it is
// for; whoever is woken checks that it still sleeps it.
class Alarms {
 public:
  struct Woken {
    Index shape = 0;
    std::uint32_t nap = 0;
  };

  // After `places` more pods of the kind have found room.
  void set(Index kind, std::int64_t places, Woken whom);
  // After any growth where at least one pod of the kind fits.
  void set_any(Index kind, Woken whom);
  bool armed(Index kind) const {
    return kind < kinds_.size() && (!kinds_[kind].counted.empty() || !kinds_[kind].any.empty());
  }
  // More gained places than this ring nobody else.
  std::int64_t farthest(Index kind) const {
    const KindAlarms& alarms = kinds_[kind];
    return alarms.farthest > alarms.gained
               ? static_cast<std::int64_t>(alarms.farthest - alarms.gained)
               : 1;
  }
  // A node grew: it holds `gained` more pods of the kind, and at least one.
  void ring(Index kind, std::int64_t gained, std::vector<Woken>& woken);

 private:
  struct Counted {
    std::uint64_t at = 0;
    Woken whom;
  };
  struct KindAlarms {
    std::uint64_t gained = 0;      // ever
    std::uint64_t farthest = 0;    // alarm ever set
    std::vector<Counted> counted;  // a heap, the nearest on top
    std::vector<Woken> any;
  };
  KindAlarms& of(Index kind);

  std::vector<KindAlarms> kinds_;
};

}  // namespace codeflare::sched
