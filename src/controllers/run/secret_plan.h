#pragma once

#include "model/app_wrapper.h"
#include "model/data_set.h"
#include "model/gvk.h"
#include "model/platform_repo_secret.h"
#include "model/run.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::runs {

// A Secret that pods of a Run need beside its AppWrapper.
struct SecretCopy {
  model::ObjectKey from;
  std::string to;                 // in the namespace of the Run
  std::vector<std::string> keys;  // only these are copied

  friend bool operator==(const SecretCopy&, const SecretCopy&) = default;
};

struct SecretSources {
  std::function<std::optional<model::DataSet>(const model::ObjectKey&)> data_set;
  std::vector<model::PlatformRepoSecret> repo_secrets;
  model::StringMap namespace_labels;  // of the Run's namespace
};

// The Secrets that a compiled Run needs now: Secrets of S3 data of other namespaces that allow this
// one, and that of the PlatformRepoSecret that matches its repository. Pure.
std::vector<SecretCopy> secrets_of(const model::Run& run, const SecretSources& sources);

// Needs a credential that a PlatformRepoSecret may bring.
bool wants_repo_secret(const model::Run& run);

}  // namespace codeflare::controllers::runs
