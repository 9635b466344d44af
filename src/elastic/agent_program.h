#pragma once

namespace codeflare::elastic {

// `codeflare-agent` and `codeflare agent`: the arguments after the program's name (and the verb).
// Returns the exit code of the pod; 2 for a wrong command line.
int agent_program(int argc, char** argv, const char* program);

}  // namespace codeflare::elastic
