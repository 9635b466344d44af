#pragma once

#include <string>

namespace codeflare::node {

// Kills the keeper of the pod that has this directory, and all that it has started. For a keeper
// that does not answer: nothing is written down by it any more. Blocking; fine when there is none.
void kill_keeper(const std::string& pod_directory);

}  // namespace codeflare::node
