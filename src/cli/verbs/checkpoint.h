#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "cli/session/console.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <string>

namespace codeflare::cli {

extern const Verb kCheckpoint;

// Options of `codeflare checkpoint`.
struct CheckpointFlags {
  std::string service{};     // URL; empty: from the environment, else http://127.0.0.1:5555
  std::string token_file{};  // of a token
  std::string key_file{};    // instead: a token is made from the key
  std::string ns = "default";
  std::string job{};            // name or UID
  std::string output{};         // list: json
  std::string directory = ".";  // get: where to write the parts
  std::string uid = "*";        // token: of the job
  std::int64_t id = 0;          // 0: the latest of get, all of delete
  std::int64_t seconds = 0;     // token: how long it is valid; 0: no end
};

Task<int> run_checkpoint_list(Env env, Console& console, CheckpointFlags flags);
Task<int> run_checkpoint_get(Env env, Console& console, CheckpointFlags flags);
Task<int> run_checkpoint_delete(Env env, Console& console, CheckpointFlags flags);
int run_checkpoint_token(Env env, Console& console, const CheckpointFlags& flags);

}  // namespace codeflare::cli
