#pragma once

#include "elastic/store.h"
#include "kube/client.h"

#include <string>
#include <string_view>

namespace codeflare::elastic {

inline constexpr std::string_view kMemberAnnotation = "breezeml.ai/member";
inline constexpr std::string_view kRoundAnnotation = "breezeml.ai/round";

const model::ResourceType& training_jobs();
const model::ResourceType& leases();

// "bert-worker-3", "bert-round": Leases that the controller makes. Pods have the members' names.
std::string member_name(std::string_view job, std::int32_t index);
std::string round_name(std::string_view job);

struct KubernetesStoreOptions {
  std::string ns;
  std::string job;
  std::string holder;  // of the member's Lease: the UID of the pod
};

// The membership is in the status of the TrainingJob, the rest in annotations of Leases. Needs of
// the API server: get and watch of that one TrainingJob (by name), get, watch and patch of the
// Leases named above; so a Role with resourceNames is enough, and every watch selects one name.
class KubernetesStore final : public Store {
 public:
  // The client outlives this.
  KubernetesStore(kube::Client& client, KubernetesStoreOptions options);

  Task<Result<StoreEntry>> get(StoreKey key) override;
  std::unique_ptr<StoreWatch> watch(StoreKey key) override;
  Task<Result<void>> put(StoreKey key, std::string value, Duration ttl) override;
  Task<Result<void>> swap(StoreKey key, std::string value, std::string version) override;

 private:
  class Watch;
  std::string name_of(const StoreKey& key) const;

  kube::Client& client_;
  KubernetesStoreOptions options_;
};

}  // namespace codeflare::elastic
