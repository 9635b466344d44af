#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
// `codeflare submit run [NAME] --application APP`: compiled here first, so that a mistake is
// reported before anything is created.
Task<int> run_submit_run(Session& session, SubmitRunFlags flags);

}  // namespace codeflare::cli
