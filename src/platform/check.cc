#include "platform/command_line.h"
#include "platform/compile.h"
#include "platform/pod_parts.h"
#include "platform/progress_pattern.h"
#include "platform/repo_url.h"
#include "platform/sizes.h"

#include <algorithm>

namespace codeflare::platform {

std::vector<Problem> check_application(const model::Application& application,
                                       const std::vector<model::DataSet>& data_sets,
                                       const std::vector<model::RunSizeConfiguration>& sizes) {
  Problems problems;
  const model::ApplicationSpec& spec = application.spec;
  check_schema(application, problems);
  check_progress(application, problems);
  if (!spec.repo.empty()) {
    if (const auto repo = parse_repo(spec.repo, spec.ref, spec.path); !repo) {
      problems.add("spec.repo", repo.error().message);
    }
  }
  if (!spec.size.empty() && !size_table(sizes).contains(spec.size)) {
    problems.add("spec.size", "size '" + spec.size + "' is unknown");
  }
  const auto check_data = [&](const std::string& ns, const std::string& name, std::size_t i) {
    const model::ObjectKey key{ns.empty() ? application.metadata.ns : ns, name};
    const bool exists = std::ranges::any_of(
        data_sets, [&](const model::DataSet& each) { return each.metadata.key() == key; });
    if (!exists) {
      problems.add({.field = "spec.inputs[" + std::to_string(i) + "]",
                    .text = "DataSet " + key.ns + "/" + key.name + " does not exist",
                    .missing = true});
    }
  };
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    if (!spec.inputs[i].name.empty()) {
      check_data(spec.inputs[i].ns, spec.inputs[i].name, i);
    }
    for (const auto& [size, name] : spec.inputs[i].sizes) {
      check_data(spec.inputs[i].ns, name, i);
    }
  }
  std::vector<Problem> all = problems.take();
  for (Problem& problem : all) {
    problem.object.clear();  // the reader looks at the Application
  }
  return all;
}

std::vector<Problem> check_data_set(const model::DataSet& data_set) {
  Problems problems;
  const model::DataSetSpec& spec = data_set.spec;
  const int sources = (spec.inline_files.empty() ? 0 : 1) + (spec.nfs ? 1 : 0) +
                      (spec.pvc ? 1 : 0) + (spec.s3 ? 1 : 0);
  if (sources != 1) {
    problems.add("spec", "set exactly one of inline, nfs, pvc and s3");
  }
  return problems.take();
}

}  // namespace codeflare::platform
