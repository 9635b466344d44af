#pragma once

namespace codeflare {

// `codeflare code unpack FROM TO`: what the init container of a job runs to have its code. Returns
// the exit code.
int code_main(int argc, char** argv);

}  // namespace codeflare
