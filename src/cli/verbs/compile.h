#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kCompile;

struct CompileFlags {
  std::vector<std::string> files;
  bool explain = false;
  bool cluster = false;
};
// `codeflare compile FILE...`: the AppWrappers that the Runs of files become, or with `explain` the
// origin of their values. A Run's references are in the files, or with `cluster` on the server.
Task<int> run_compile(Session& session, CompileFlags flags);

}  // namespace codeflare::cli
