#pragma once

#include "apiserver/admission/quota_usage.h"
#include "apiserver/registry/registry.h"
#include "apiserver/request/admission.h"
#include "apiserver/store/store.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// Enforces ResourceQuota: usage is counted at every commit, writes on their way are reserved, so
// that no moment exceeds a quota. Somebody else writes what status() says into the objects.
class QuotaKeeper final : public Admission {
 public:
  // `on_change(ns, name)` is called when the status of a quota should be written.
  using OnChange = std::function<void(const std::string& ns, const std::string& name)>;
  QuotaKeeper(Store& store, const Registry& registry, OnChange on_change);

  Result<void> validate(AdmissionRequest& request) override;

  struct Status {
    model::ResourceList hard;
    model::ResourceList used;
  };
  // Null when there is no such quota.
  const Status* status(std::string_view ns, std::string_view name) const;

 private:
  struct Quota {
    Revision created = 0;  // tells it from another one of the same name
    Status status;
    model::ResourceList reserved;
    std::vector<QuotaScope> scopes;
  };
  using Quotas = std::map<std::string, Quota, std::less<>>;
  // The reservation of a write on its way, until it is counted or has failed.
  struct Claim {
    std::string ns;
    std::string uid;  // of the object that is written
    struct Part {
      std::string quota;
      Revision quota_created;
      model::ResourceList amounts;
    };
    std::vector<Part> parts;
  };
  using Claims = std::map<std::uint64_t, Claim>;  // in the order in which they were made

  void changed(CollectionId collection, const Event& event);
  void set_quota(const Object& object);
  void release(Claims::iterator claim);
  // The claim of the write that is behind a commit of this object.
  void release_committed(std::string_view ns, std::string_view uid);
  void count_all(const std::string& ns, Quota& quota) const;
  // Adds (factor 1) or takes away (-1) what the object counts for in the quota.
  void count(Quota& quota, std::string_view resource, const json::Value& object, int factor) const;
  // The write's addition to the quota.
  model::ResourceList demand(const Quota& quota, const AdmissionRequest& request) const;

  Store& store_;
  const Registry& registry_;
  OnChange on_change_;
  CollectionId quotas_collection_;
  std::map<std::string, Quotas, std::less<>> by_namespace_;
  Claims claims_;
  std::uint64_t last_claim_ = 0;
};

}  // namespace codeflare::apiserver
