#pragma once

#include "base/result.h"
#include "model/pod.h"

#include <string>

namespace codeflare::node {

// The container that a request about a pod means: the one it names, the only one, or the one that
// the pod says. Errors are those that a kubelet gives, in its words.
Result<std::string> choose_container(const model::Pod& pod, const std::string& asked);

}  // namespace codeflare::node
