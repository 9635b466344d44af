#pragma once

namespace codeflare::s3 {

// `codeflare data`: the arguments after the verb. Returns the exit code; 2 for a wrong command
// line. A failure ends with a line "REASON: text" on standard error, which becomes the message of
// the Run.
int data_program(int argc, char** argv);

}  // namespace codeflare::s3
