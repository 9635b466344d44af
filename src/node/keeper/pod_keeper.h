#pragma once

namespace codeflare::node {

// `codeflare pod-keeper DIR`: starts the keeper of the pod whose directory this is, in namespaces
// of its own, and ends when it is ready; prints the keeper's process id. `codeflare pod-keeper
// --probe DIR` tries in an empty directory whether the system allows that; exit code 3 and the
// reason when it does not. Must be called before anything else in the process: it has to have one
// thread.
int pod_keeper_main(int count, char** arguments);

}  // namespace codeflare::node
