#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "controllers/localvolume/local_volume.h"
#include "kube/client.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <optional>
#include <string>

namespace codeflare::controllers::localvolume {

// Gives claims of the class codeflare-local, and those of no class, a directory.
class ClaimBinder final : public runtime::StoryReconciler<ObservedClaim, runtime::Plan> {
 public:
  ClaimBinder(const runtime::ControllerContext& context, std::string directory);

  std::optional<ObservedClaim> observe(const runtime::ObjectKey& key) const override;
  runtime::Plan desired(const ObservedClaim& observed, WallTime now) const override;
  runtime::Plan diff(const ObservedClaim& observed, const runtime::Plan& desired) const override;

 private:
  const runtime::Store& claims_;
  const runtime::Store& volumes_;
  std::string directory_;
};

// Removes volumes that we made, and what is in them, when their claim is gone and no pod uses it
// any more.
class VolumeRemover final : public runtime::Reconciler {
 public:
  VolumeRemover(const runtime::ControllerContext& context, std::string directory);
  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

 private:
  // `next` is when a claim of the same name was made after it: pods since then use that one.
  bool in_use(const LocalVolume& volume, const std::optional<WallTime>& next) const;

  Env env_;
  runtime::Actor& actor_;
  const runtime::Store& volumes_;
  runtime::Informer& claims_;
  runtime::Informer& pods_;
  std::string directory_;
};

// The directory is made when the first volume is used.
ClaimBinder& add_local_volume_controllers(runtime::Manager& manager, std::string directory);

// Before: the StorageClass is there. One of that name that somebody changed stays as it is.
Task<Result<void>> ensure_storage_class(kube::Client& client);

}  // namespace codeflare::controllers::localvolume
