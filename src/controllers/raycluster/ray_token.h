#pragma once

#include "base/env/random.h"
#include "model/container.h"
#include "model/ray_cluster.h"

#include <string>
#include <string_view>

// Token authentication of Ray (spec.authOptions) as KubeRay 1.5.1 has it: a Secret named like the
// cluster with a random token, and two variables in every Ray container.
namespace codeflare::controllers::raycluster {

inline constexpr std::string_view kTokenKey = "auth_token";

// spec.authOptions.mode is "token".
bool uses_token(const model::RayClusterSpec& spec);
// Why spec.authOptions cannot be honored, or empty.
std::string invalid_authentication(const model::RayCluster& cluster);

// RAY_AUTH_MODE and RAY_AUTH_TOKEN, unless the container sets them.
void add_token_variables(const model::RayCluster& cluster, model::Container& ray);
// The Secret with a new token, owned by the cluster, as JSON.
std::string token_secret(const model::RayCluster& cluster, Random& random);

}  // namespace codeflare::controllers::raycluster
