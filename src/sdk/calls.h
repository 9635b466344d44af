#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "json/value.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Everything that a skin in another language may call, by name, with plain data: JSON in, JSON out.
// Each call opens its own connection, so calls of several threads share nothing.
namespace codeflare::sdk {

// The surroundings of a call.
struct CallContext {
  Env env;
  // Progress of a wait as JSON: a ClusterState, a JobInfo, or a piece of a log that is followed
  // (with `states` also the job's states, as objects).
  std::function<void(const std::string&)> observer;
};

// `arguments` is a JSON object. Its member `connection` may name kubeconfig, context, server,
// token, ca_file, cert_file, key_file, insecure; without it the default kubeconfig counts, or the
// pod's service account.
Task<Result<std::string>> call(CallContext context, std::string name, std::string arguments);

// The names of all calls, sorted.
std::vector<std::string> call_names();

}  // namespace codeflare::sdk
