#pragma once

#include "model/data_set.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/quantity.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Application (codeflare.dev/v1alpha1): a program that Runs start, described once by its owner.
namespace codeflare::model {

// One parameter of the command line.
struct ParameterSpec {
  std::string name;
  std::string type;                      // "string" when empty, integer, number, boolean, list
  std::string flag;                      // "--epochs"; "--epochs=" joins the value to it
  std::optional<std::int32_t> position;  // of a word without a flag, from 0
  RawJson default_value;
  RawJson enum_values;  // an array
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::string pattern;  // the whole value matches it (RE2)
  bool required = false;
  std::string description;
  Extra extra;

  friend bool operator==(const ParameterSpec&, const ParameterSpec&) = default;
};

struct CodeFile {
  std::string name;  // below /workdir
  std::string source;
  Extra extra;

  friend bool operator==(const CodeFile&, const CodeFile&) = default;
};

struct ApplicationInput {
  std::string name;  // of a DataSet
  std::string ns;    // the Application's when empty
  StringMap sizes;   // instead of the name: size of the data to DataSet
  std::string default_size;
  std::string mount_path;  // "/mnt/datasets/NAME" when empty
  std::string use_as;      // "mount" when empty, or "env"
  Extra extra;

  friend bool operator==(const ApplicationInput&, const ApplicationInput&) = default;
};

// How the log of the program tells its progress.
struct ApplicationProgress {
  std::string
      pattern;  // RE2 with groups `epoch` and `progress`, or one or two groups in this order
  Extra extra;

  friend bool operator==(const ApplicationProgress&, const ApplicationProgress&) = default;
};

struct RunSecurityContext {
  std::optional<std::int64_t> run_as_user;
  std::optional<std::int64_t> run_as_group;
  std::optional<std::int64_t> fs_group;
  Extra extra;

  friend bool operator==(const RunSecurityContext&, const RunSecurityContext&) = default;
};

struct ApplicationSpec {
  std::string api;  // the archetype: shell, torch or ray
  std::string image;
  std::string image_pull_secret;
  std::string command;  // shell text
  std::string options;  // default words behind it
  List<ParameterSpec> parameters;
  bool additional_options = false;
  StringMap env;
  List<std::string> requirements;  // for pip
  std::string repo;
  std::string ref;                        // of a plain URL
  std::string path;                       // likewise
  std::optional<SecretName> repo_secret;  // keys user and pat
  List<CodeFile> code;
  List<ApplicationInput> inputs;
  List<std::string> allowed_namespaces;  // besides its own; "*": all
  std::string size;
  std::optional<Quantity> min_cpu;
  std::optional<Quantity> min_memory;
  std::optional<std::int32_t> min_gpu;
  bool supports_gpu = false;
  std::optional<ApplicationProgress> progress;
  std::optional<RunSecurityContext> security_context;
  std::string description;
  List<std::string> tags;
  Extra extra;

  friend bool operator==(const ApplicationSpec&, const ApplicationSpec&) = default;
};

struct Application {
  ObjectMeta metadata;
  ApplicationSpec spec;
  ReadyStatus status;
  Extra extra;

  friend bool operator==(const Application&, const Application&) = default;
};

template <>
struct ResourceTraits<Application> {
  static constexpr std::string_view group = "codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "Application";
  static constexpr std::string_view plural = "applications";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
