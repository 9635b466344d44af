#pragma once

#include "kube/client.h"

#include <string>

namespace codeflare::controllers::view {

// A PodList with names, containers, requests and status of the pods. A right to read logs of an
// AppWrapper does not include the environment and the commands of its pods.
std::string pruned_list(const kube::ObjectList& pods);

}  // namespace codeflare::controllers::view
