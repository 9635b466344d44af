#include "controllers/appwrapper/queue_lease.h"

#include <utility>

namespace codeflare::controllers {

namespace {

// Of the machine, or of the pod; empty where nobody knows.
std::string host_name(Env env) {
  std::string name = env.files.read("/proc/sys/kernel/hostname").value_or("");
  while (name.ends_with('\n')) {
    name.pop_back();
  }
  return name;
}

}  // namespace

runtime::LeaderOptions queue_candidate(Env env, std::string ns) {
  const std::string host = host_name(env);
  return {.ns = std::move(ns),
          .name = std::string(kQueueLease),
          .identity = (host.empty() ? "" : host + "_") + env.random.uuid(),
          .create_namespace = true};
}

}  // namespace codeflare::controllers
