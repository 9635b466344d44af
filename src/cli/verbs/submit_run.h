#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "model/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare::model {
struct Application;
}

namespace codeflare::cli {

extern const Verb kSubmitRun;

struct SubmitRunFlags {
  std::string name;                     // empty: the Application's, and letters of the server
  std::string application;              // NAME or NAMESPACE/NAME
  std::vector<std::string> parameters;  // NAME=VALUE
  std::vector<std::string> words;       // options, behind --
  std::vector<std::string> env;         // NAME=VALUE
  std::vector<std::string> labels;      // KEY=VALUE
  std::string size;
  std::string cpu;
  std::string memory;
  std::string input;
  std::string priority;
  std::optional<std::int32_t> workers;
  std::optional<std::int32_t> gpu;
  std::optional<std::int32_t> retries;
  std::optional<std::int64_t> deadline;
  std::optional<std::int64_t> expected;
  std::optional<std::int64_t> ttl;
  bool supports_gpu = false;
  bool hold = false;
  bool wait = false;
  bool dry_run = false;
  Duration timeout{};
};
// The options that describe the run, and its words behind --.
void add_run_options(CLI::App& verb, SubmitRunFlags& flags);
// The run; without the Application the types of its parameters follow from how their values look.
Result<model::Run> run_of(const SubmitRunFlags& flags, const std::string& ns,
                          const model::Application* application);

// `codeflare submit run [NAME] --application APP`: compiled here first, so that a mistake is
// reported before anything is created.
Task<int> run_submit_run(Session& session, SubmitRunFlags flags);

}  // namespace codeflare::cli
