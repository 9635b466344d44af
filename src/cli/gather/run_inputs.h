#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/gather/manifest.h"
#include "cli/session/session.h"
#include "model/namespace.h"
#include "platform/compile.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// A Run of a file.
struct FileRun {
  std::string where;  // "train.yaml: document 2, Run default/train"
  model::Run run;
};

// The objects of the Platform that files hold. Their namespace is `ns` unless they name one.
struct PlatformFiles {
  std::vector<FileRun> runs;
  std::vector<model::Application> applications;
  std::vector<model::DataSet> data_sets;
  std::vector<model::RunSizeConfiguration> sizes;
  std::vector<model::RunPolicy> policies;
  std::vector<model::Namespace> namespaces;
  std::vector<Error> errors;  // each names file, document and field
};
PlatformFiles read_platform(const std::vector<Manifest>& manifests, const std::string& ns);

// The input of a Run of the files.
platform::CompileInput input_from(const PlatformFiles& files, const model::Run& run);

// An input without the objects that the user may not read.
struct ClusterInput {
  platform::CompileInput input;
  std::vector<std::string> unread{};  // "RunPolicies", "Application owner/train"
  bool no_application = false;
  bool no_data_set = false;
  bool no_sizes = false;  // or no policies: both decide about the resources

  // The missing objects may be the cause of this problem.
  bool may_cause(const platform::Problem& problem) const;
};

// Adds what the server has and `input` lacks.
Task<Result<ClusterInput>> add_from_cluster(Session& session, platform::CompileInput input);

}  // namespace codeflare::cli
