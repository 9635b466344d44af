#pragma once

#include "base/result.h"
#include "model/config_map.h"
#include "model/pod.h"
#include "model/resource_list.h"
#include "model/secret.h"
#include "model/service.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace codeflare::node {

// Which token of the pod's service account is asked for.
struct TokenNeed {
  std::string audience;
  std::int64_t expiration_seconds = 3600;
  friend auto operator<=>(const TokenNeed&, const TokenNeed&) = default;
};

// The objects that a pod refers to, all of its own namespace.
struct PodNeeds {
  std::set<std::string> config_maps;
  std::set<std::string> secrets;
  std::set<TokenNeed> tokens;
  std::set<std::string> claims;
  friend bool operator==(const PodNeeds&, const PodNeeds&) = default;
};
PodNeeds needs_of(const model::PodSpec& spec);

// A PersistentVolumeClaim, as far as it concerns a pod.
struct ClaimedVolume {
  bool bound = false;       // to a volume that names this claim, by its UID too
  std::string foreign{};    // the volume that the claim names and that does not name it
  std::string directory{};  // of this machine; empty: the volume is none
};

// The objects that were found for them, and the surroundings. Never logged: it holds secrets.
struct PodInputs {
  std::map<std::string, model::ConfigMap, std::less<>> config_maps{};
  std::map<std::string, model::Secret, std::less<>> secrets{};
  std::map<TokenNeed, std::string> tokens{};
  std::map<std::string, ClaimedVolume, std::less<>> claims{};
  std::string claims_directory{};             // where volumes of claims lie
  std::vector<std::string> host_paths{};      // directories that hostPath may name
  std::vector<std::string> private_places{};  // with our own data: no volume but a claim lies there
  std::vector<model::Service> services{};     // of the pod's namespace
  std::string api_host{};                     // where pods reach the API server; empty: not at all
  std::string api_port{};
  model::ResourceList allocatable{};
};

}  // namespace codeflare::node
