#include "controllers/raycluster/kuberay_signs.h"

#include "controllers/raycluster/ray_names.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

std::string words_of(const model::ObjectKey& deployment) {
  return "deployment " + deployment.to_string();
}

}  // namespace

bool KubeRaySigns::is_operator(const model::Deployment& deployment) {
  const bool named = deployment.metadata.name.contains(kOperator) ||
                     model::find_or_empty(deployment.metadata.labels, kAppNameLabel) == kOperator;
  return named && deployment.spec.replicas.value_or(1) > 0;
}

void KubeRaySigns::deployment(const model::Deployment& deployment, Instant now) {
  if (is_operator(deployment)) {
    deployments_.insert(deployment.metadata.key());
  } else {
    no_deployment(deployment.metadata.key(), now);
  }
}

void KubeRaySigns::no_deployment(const model::ObjectKey& key, Instant now) {
  if (deployments_.erase(key) > 0) {
    // Its pod may still be at work.
    note({now, words_of(key)});
  }
}

void KubeRaySigns::glimpse(const model::Deployment& deployment, Instant now) {
  if (is_operator(deployment)) {
    note({now, words_of(deployment.metadata.key())});
  }
}

void KubeRaySigns::lease(const model::Lease& lease, Moment moment, bool first) {
  Renewal renewal{.holder = lease.spec.holder_identity.value_or("")};
  if (lease.spec.renew_time) {
    renewal.time = lease.spec.renew_time->time;
  }
  const model::ObjectKey key = lease.metadata.key();
  const auto [known, added] = renewals_.try_emplace(key, renewal);
  if (!added && std::exchange(known->second, renewal) == renewal) {
    return;
  }
  if (renewal.holder.empty() || !renewal.time) {
    return;
  }
  const Duration age =
      first ? std::max(Duration::zero(),
                       std::chrono::duration_cast<Duration>(moment.wall - *renewal.time))
            : Duration::zero();
  if (age < kGoneAfter) {
    note({moment.now - age, "lease " + key.to_string() + " held by " + renewal.holder});
  }
}

std::optional<std::string> KubeRaySigns::where(Instant now) const {
  if (!deployments_.empty()) {
    return words_of(*deployments_.begin());
  }
  if (last_ && now - last_->time < kGoneAfter) {
    return last_->words;
  }
  return std::nullopt;
}

std::optional<Instant> KubeRaySigns::until(Instant now) const {
  if (!deployments_.empty() || !where(now)) {
    return std::nullopt;
  }
  return last_->time + kGoneAfter;
}

void KubeRaySigns::note(Sign sign) {
  if (!last_ || last_->time <= sign.time) {
    last_ = std::move(sign);
  }
}

}  // namespace codeflare::controllers::raycluster
