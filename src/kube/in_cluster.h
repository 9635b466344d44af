#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "kube/config.h"

#include <string_view>

namespace codeflare::kube {

inline constexpr std::string_view kServiceAccountDirectory =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// The connection of a pod, from the variables and files that Kubernetes gives it. The token stays a
// file: it is replaced about every hour. Fails with not_found outside a pod, with
// failed_precondition in a pod without a usable service account. Blocks on files.
Result<Config> in_cluster_config(Env env);

}  // namespace codeflare::kube
