#pragma once

#include "model/application.h"
#include "model/config_map.h"
#include "model/container.h"
#include "model/run.h"
#include "model/volume.h"
#include "platform/problem.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

inline constexpr std::string_view kWorkdir = "/workdir";

// What code, packages and data add to every pod of a Run, whatever its archetype.
struct PodParts {
  std::string name;  // of the AppWrapper: objects beside the pods begin with it
  std::vector<model::Volume> volumes{};
  std::vector<model::VolumeMount> mounts{};  // of the program
  std::vector<model::Container> init_containers{};
  model::StringMap env{};
  std::string workdir{};  // empty: the image's own
  std::vector<model::ConfigMap> config_maps{};
};

// Files of `code` at /workdir; or `repo`, fetched by an init container with `git_image`.
void add_code(const model::Application& application, const std::string& git_image, PodParts& parts,
              Problems& problems);

// Python packages, installed by an init container and found through PYTHONPATH.
void add_requirements(const model::Application& application, PodParts& parts);

// The DataSets that a Run of the Application needs. A Run chooses among sizes with `input`.
struct InputUse {
  model::ObjectKey data_set;
  const model::ApplicationInput* input = nullptr;
  std::string field{};  // of the Application: "spec.inputs[0]"
};
std::vector<InputUse> inputs_of(const model::Application& application, const model::Run& run,
                                Problems& problems);

// Volumes or variables of the data sets.
void add_inputs(const std::vector<InputUse>& uses, const model::Application& application,
                const model::Run& run, const std::vector<model::DataSet>& data_sets,
                PodParts& parts, Problems& problems);

// Whether an object of `owner_ns` may be used by Runs of `ns`.
bool allows(const model::List<std::string>& allowed_namespaces, std::string_view owner_ns,
            std::string_view ns);

}  // namespace codeflare::platform
