#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "kube/client.h"
#include "sdk/submit_gang.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// `codeflare run`: a command with sizes becomes a job on Kubernetes.
namespace codeflare::sdk {

struct RunSpec {
  std::string name;  // run_name() makes one
  std::string ns;
  std::vector<std::string> command;
  std::string cpus = "1";  // per pod
  std::string memory{};    // per pod; digits alone are decimal gigabytes; empty: no limit
  std::int64_t gpus = 0;   // per pod
  std::int64_t pods = 1;
  std::string time{};  // "6h", "1h30m"; empty: no limit
  std::optional<std::int64_t> priority{};
  std::vector<std::string> quota{};  // "TREE=NODE"
  std::vector<std::string> env{};    // "NAME=VALUE"
  std::string image;
  bool image_given = false;  // by a person: an unknown one is an error, also on `codeflare up`
  bool terminal = false;     // for the command; one pod
  std::optional<CodeArchive> code{};
  std::string program_image{};
};

// All faults at once, by the names of the options.
Result<GangSubmission> run_submission(const RunSpec& spec);

// A name for a command: of its script, else of its program, and five letters.
std::string run_name(const std::vector<std::string>& command, Random& random);

// This machine's programs: what an image without an entry is on nodes of `codeflare up`.
inline constexpr std::string_view kMachineImage = "codeflare/this-machine";

// Whether the server is that of `codeflare up`.
Task<Result<bool>> is_own_server(kube::Client& client);
// The image where none was given: this machine's programs on `codeflare up`, elsewhere
// CODEFLARE_IMAGE.
Task<Result<std::string>> default_image(kube::Client& client);

}  // namespace codeflare::sdk
