#pragma once

#include "model/application.h"
#include "model/config_map.h"
#include "model/container.h"
#include "model/run.h"
#include "model/volume.h"
#include "platform/problem.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

inline constexpr std::string_view kWorkdir = "/workdir";

// The additions of code, packages and data to every pod of a Run, whatever its archetype.
struct PodParts {
  std::string name;             // of the AppWrapper: objects beside the pods begin with it
  std::string program_image{};  // our own: its entry point is `codeflare`
  std::vector<model::Volume> volumes{};
  std::vector<model::VolumeMount> mounts{};  // of the program
  std::vector<model::Container> init_containers{};
  model::StringMap env{};
  std::vector<model::EnvVar> secret_env{};  // of the program, with values from Secrets
  // In front of the program's own command, which follows as words: copies data back.
  std::vector<std::string> wrapper_command{};
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
  std::size_t index = 0;  // among the inputs of the Application

  std::string field() const { return "spec.inputs[" + std::to_string(index) + "]"; }
};
std::vector<InputUse> inputs_of(const model::Application& application, const model::Run& run,
                                Problems& problems);

// Volumes or variables of the data sets. Data in S3 is copied by init containers of our own.
void add_inputs(const std::vector<InputUse>& uses, const model::Application& application,
                const model::Run& run, const std::vector<model::DataSet>& data_sets,
                PodParts& parts, Problems& problems);

// One S3 DataSet that pods of a Run get at `path`, or as variables when it is empty.
struct S3Use {
  const model::DataSet& data_set;
  std::size_t index = 0;  // of the input
  std::string path{};
  std::string run_namespace;
};
void add_s3(const S3Use& use, PodParts& parts);

// Letters, digits and _ only, upper case: "my-data" and "part.csv" become MY_DATA_PART_CSV.
std::string variable_name(std::string_view data_set, std::string_view key);

// Whether an object of `owner_ns` may be used by Runs of `ns`.
bool allows(const model::List<std::string>& allowed_namespaces, std::string_view owner_ns,
            std::string_view ns);

}  // namespace codeflare::platform
