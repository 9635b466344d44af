#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "model/training_job.h"

#include <optional>
#include <string>
#include <string_view>

// The pull secret of the image of injected agents, in the namespace of each TrainingJob.
namespace codeflare::controllers::trainingjob {

struct RegistryLogin {
  std::string username;
  Secret password;
};

// The files `username` and `password` of a folder, as a Secret is mounted. Nothing: no folder is
// named, or both files are empty. One without the other is an error.
Result<std::optional<RegistryLogin>> read_registry_login(FileSystem& files,
                                                         const std::string& folder);

// The registry that an image name begins with; Docker's own key for names without one.
std::string registry_of(std::string_view image);

// Its name has a part of the UID: a later job of the same name has another.
std::string pull_secret_name(const model::TrainingJob& job);
std::string pull_secret(const model::TrainingJob& job, std::string_view image,
                        const RegistryLogin& login);

}  // namespace codeflare::controllers::trainingjob
