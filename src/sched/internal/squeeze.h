#pragma once

#include "sched/internal/growth.h"
#include "sched/internal/lifting.h"

#include <functional>
#include <map>
#include <vector>

namespace codeflare::sched {

// Chooses whose growth has to go so that something fits: as few places as it takes, of those who
// give way first. Lifts them.
class Squeeze {
 public:
  // `givers`: elastic gangs, the first gives way first. `most` is how many places one of them may
  // lose.
  using Most = std::function<std::int64_t(const Elastic&)>;
  Squeeze(State& state, Lifting& lifting, const Shape& shape, const std::vector<Index>& givers,
          const Most& most);

  // False: not even all of it is enough; then all of it is lifted.
  bool run();
  // Puts back what is not needed, the last to give way first; `fits` says whether it is enough.
  void spare(const std::function<bool()>& fits);

 private:
  struct Giver {
    Index elastic = kNone;
    std::int64_t left = 0;  // places that it may still lose
  };
  // Growth of one giver on one node.
  struct Offer {
    std::size_t giver = 0;
    std::int64_t count = 0;
    bool coming = false;
  };
  struct Choice {
    Index node = kNone;
    std::int64_t places = 0;  // to be lifted
    std::int64_t gained = 0;  // pods that fit then
    std::size_t worst = 0;    // giver
  };

  // Looks at more givers; false when all are looked at. Most searches end with the first few: of
  // two equal choices the giver that comes first wins.
  bool widen();
  bool relieve_quota();
  bool free_places(const Placed& failed);
  Choice best_choice(const Placed& failed) const;
  Choice look_at(Index node, const Kind& kind, std::int64_t most) const;
  void lift_on(Index node, std::int64_t places);
  void lift_one(Index node, Offer& offer);

  State& state_;
  Lifting& lifting_;
  const Shape& shape_;
  std::vector<Giver> givers_;
  std::size_t looked_at_ = 0;                   // of the givers: their offers are known
  std::map<Index, std::vector<Offer>> offers_;  // by node, the first to give way first
};

}  // namespace codeflare::sched
