#pragma once

#include "model/app_wrapper.h"
#include "model/application.h"
#include "model/data_set.h"
#include "model/run.h"
#include "model/run_policy.h"
#include "model/run_size_configuration.h"
#include "platform/problem.h"

#include <optional>
#include <string>
#include <vector>

// The compiler of Runs: pure, so that `codeflare compile`, the controller and tests say the same.
namespace codeflare::platform {

struct CompileInput {
  model::Run run;
  std::optional<model::Application> application{};  // nothing: it does not exist
  // Those that exist of data_sets_of().
  std::vector<model::DataSet> data_sets{};
  std::vector<model::RunSizeConfiguration> sizes{};
  std::vector<model::RunPolicy> policies{};
  model::StringMap namespace_labels{};  // of the Run's namespace
};

struct CompileOptions {
  std::string git_image = "alpine/git";  // has git and sh
  // Our own, whose entry point is `codeflare`; empty: that of this version.
  std::string program_image{};
};

struct Compiled {
  // With the Run's objects in it and the Run as its controller; unusable if there are problems.
  model::AppWrapper wrapper;
  std::string api;
  std::string size;
  std::vector<model::EffectiveValue> effective;
  std::vector<Problem> problems;

  bool good() const { return problems.empty(); }
};

// Order of values: Run, Application, RunPolicy defaults, RunSizeConfiguration, built-in; limits
// last.
//   Compiled compiled = compile({.run = run, .application = application});
//   if (compiled.good()) create(compiled.wrapper);
Compiled compile(const CompileInput& input, const CompileOptions& options = {});

// The priority that the Run has by its policies now; unusable if there are problems. Needs neither
// the Application nor its DataSets.
struct RunPriority {
  std::int32_t value = 0;
  std::vector<Problem> problems;
};
RunPriority priority_of(const CompileInput& input);

// The Application's namespace is the Run's unless it names one.
model::ObjectKey application_of(const model::Run& run);
// Which DataSets the Run needs.
std::vector<model::ObjectKey> data_sets_of(const model::Application& application,
                                           const model::Run& run);

// The problems of an Application before any Run uses it; `data_sets` are all that exist.
std::vector<Problem> check_application(const model::Application& application,
                                       const std::vector<model::DataSet>& data_sets,
                                       const std::vector<model::RunSizeConfiguration>& sizes);
std::vector<Problem> check_data_set(const model::DataSet& data_set);

}  // namespace codeflare::platform
