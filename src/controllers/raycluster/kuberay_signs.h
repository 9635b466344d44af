#pragma once

#include "base/time.h"
#include "model/deployment.h"
#include "model/lease.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace codeflare::controllers::raycluster {

// Traces of the KubeRay operator: its Deployment, and renewals of its Lease. The operator counts as
// running until nothing has been seen of it for a minute, which is longer than operators go without
// renewing. Pure.
class KubeRaySigns {
 public:
  static constexpr Duration kGoneAfter = std::chrono::minutes(1);

  struct Moment {
    Instant now;
    WallTime wall;
  };

  // Whether it is KubeRay's and asks for pods.
  static bool is_operator(const model::Deployment& deployment);
  void deployment(const model::Deployment& deployment, Instant now);
  void no_deployment(const model::ObjectKey& key, Instant now);
  // Of a list, which may be older than what the watch has shown: no more than a sign of life.
  void glimpse(const model::Deployment& deployment, Instant now);
  // `first`: the Lease may be years old, its own clock says; otherwise it was written just now.
  void lease(const model::Lease& lease, Moment moment, bool first);

  const std::set<model::ObjectKey>& deployments() const { return deployments_; }

  // "deployment ray-system/kuberay-operator" or "lease ... held by ..."; nothing: no operator runs.
  std::optional<std::string> where(Instant now) const;
  // When that changes without another sign.
  std::optional<Instant> until(Instant now) const;

 private:
  struct Renewal {
    std::string holder;
    std::optional<WallTime> time;
    friend bool operator==(const Renewal&, const Renewal&) = default;
  };
  struct Sign {
    Instant time;
    std::string words;
  };
  void note(Sign sign);

  std::set<model::ObjectKey> deployments_;
  std::map<model::ObjectKey, Renewal> renewals_;
  std::optional<Sign> last_;
};

}  // namespace codeflare::controllers::raycluster
