#pragma once

#include "apiserver/request/admission.h"
#include "apiserver/store/store.h"
#include "model/resource_list.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// The rules of a namespace's LimitRanges about new pods and claims: containers that leave requests
// or limits open get the defaults, then containers, pods and claims must lie within the bounds.
class LimitRangeAdmission final : public Admission {
 public:
  explicit LimitRangeAdmission(Store& store);
  Result<void> mutate(AdmissionRequest& request) override;
  Result<void> validate(AdmissionRequest& request) override;

  struct Item {
    std::string type;  // "Container", "Pod" or "PersistentVolumeClaim"
    model::ResourceList min{};
    model::ResourceList max{};
    model::ResourceList default_limit{};
    model::ResourceList default_request{};
    model::ResourceList max_ratio{};  // of limit to request
  };

 private:
  using Items = std::vector<Item>;
  using Ranges = std::map<std::string, Items, std::less<>>;
  void remember(const Event& event);
  const Ranges* ranges_for(const AdmissionRequest& request) const;

  CollectionId pods_;
  CollectionId claims_;
  CollectionId ranges_collection_;
  std::map<std::string, Ranges, std::less<>> by_namespace_;
};

}  // namespace codeflare::apiserver
