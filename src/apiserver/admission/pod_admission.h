#pragma once

#include "apiserver/request/admission.h"
#include "apiserver/store/store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// Gives new pods the priority of their class and the usual patience with nodes that are not ready.
// At most one class is the default. The runtime class that a pod asks for must be there.
class PodAdmission final : public Admission {
 public:
  explicit PodAdmission(Store& store);
  Result<void> mutate(AdmissionRequest& request) override;
  Result<void> validate(AdmissionRequest& request) override;

 private:
  struct Class {
    std::int64_t value = 0;
    std::string preemption_policy;
    bool is_default = false;
  };
  void remember(const Event& event);
  // The default class with the lowest value; end() when there is none.
  std::map<std::string, Class, std::less<>>::const_iterator default_class() const;
  Result<void> set_priority(AdmissionRequest& request) const;
  Result<void> check_runtime(const AdmissionRequest& request) const;

  Store& store_;
  CollectionId pods_;
  CollectionId runtimes_;
  CollectionId classes_collection_;
  std::map<std::string, Class, std::less<>> classes_;
};

}  // namespace codeflare::apiserver
