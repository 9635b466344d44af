#pragma once

#include "base/error.h"
#include "cli/session/console.h"

// How every role tells what went wrong: "error: ..." on standard error, and an exit code.
namespace codeflare {

inline int report(const Error& error) {
  static_cast<void>(cli::report(*cli::process_console(), error));
  return cli::kFailed;
}

// The command line itself was wrong.
inline int report_usage(const Error& error) {
  return cli::report_usage(*cli::process_console(), error.message);
}

}  // namespace codeflare
