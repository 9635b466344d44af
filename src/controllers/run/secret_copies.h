#pragma once

#include "controllers/run/secret_plan.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <map>
#include <set>
#include <string>

namespace codeflare::controllers::runs {

// Copies the Secrets that pods of Runs need into the namespace of the Run, with the AppWrapper as
// their owner, so that they go with it. Secrets are read one by one and never cached.
class SecretCopies final : public runtime::Reconciler {
 public:
  explicit SecretCopies(const runtime::ControllerContext& context);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

 private:
  SecretSources sources_for(const model::Run& run) const;
  Task<Result<bool>> copy(model::Run run, model::AppWrapper wrapper, SecretCopy what);

  kube::Client& client_;
  runtime::Actor& actor_;
  const runtime::Store& runs_;
  const runtime::Store& wrappers_;
  const runtime::Store& data_sets_;
  const runtime::Store& repo_secrets_;
  const runtime::Store& namespaces_;
  // Of Runs that have not ended: UID of the AppWrapper and name of the copy.
  std::map<model::ObjectKey, std::set<std::string>> done_;
};

void add_secret_copies(runtime::Manager& manager);

}  // namespace codeflare::controllers::runs
