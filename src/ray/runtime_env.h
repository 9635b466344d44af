#pragma once

#include "base/env/file_system.h"
#include "base/result.h"
#include "ray/package.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::ray {

// A runtime environment that a cluster understands, and what has to be there before it is used.
struct PreparedRuntimeEnv {
  std::string json;                // without local paths
  std::vector<Package> packages;   // each different one once
  std::vector<std::string> notes;  // sentences for people: what may be a surprise
};

// Turns a runtime environment as people write it (JSON) into one for a cluster: `working_dir` and
// `py_modules` that are paths become packages, files of requirements (`pip`, `uv`, `conda`) are
// inlined, URIs pass through. A value that the cluster could not use is an error that names the
// field. Reads files and blocks: call it through run_blocking. Nothing is sent.
Result<PreparedRuntimeEnv> prepare_runtime_env(FileSystem& files, std::string_view json,
                                               const PackageOptions& options);

}  // namespace codeflare::ray
