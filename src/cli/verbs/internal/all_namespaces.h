#pragma once

#include "cli/verbs/internal/session_flags.h"

#include <memory>

namespace codeflare::cli::internal {

// -A for a verb that shows all namespaces unless -n names one. Added after the session's flags, so
// that -A wins over -n whatever comes first.
template <typename Flags>
void add_all_namespaces(CLI::App& verb, const std::shared_ptr<Typed<Flags>>& typed) {
  verb.add_flag_callback(
      "-A,--all-namespaces", [typed] { typed->session.ns.clear(); },
      "all namespaces (default without -n)");
}

}  // namespace codeflare::cli::internal
