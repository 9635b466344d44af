#pragma once

namespace codeflare::node {

// `codeflare node-holder DIR`: starts the holder of the pod network whose directory this is, in
// namespaces of its own or in those of a holder that died, and ends when it serves; fine when one
// is there already. `codeflare node-holder --probe DIR` tries in an empty directory whether the
// system allows that; exit code 3 and the reason when it does not. Must be called before anything
// else in the process: it has to have one thread.
int node_holder_main(int count, char** arguments);

}  // namespace codeflare::node
