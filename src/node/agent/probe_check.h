#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "model/container.h"
#include "node/agent/probe_network.h"
#include "node/agent/run_health.h"
#include "node/stream/container_exec.h"

#include <string>

namespace codeflare::node {

// The container that a probe or hook is about.
struct ProbeTarget {
  std::string uid;
  std::string address;       // of the pod
  bool own_network = false;  // false: the pod is on the machine's
  model::Container container;
};

// The number behind a port of the container that is given by number or name.
Result<std::uint16_t> resolve_port(const model::IntOrString& port,
                                   const model::Container& container);

// Tries probes and runs hooks, each once. Both services outlive it; without `exec` programs count
// as done, with a warning.
class ProbeCheck {
 public:
  ProbeCheck(ProbeNetwork& network, ContainerExec* exec) : network_(network), exec_(exec) {}

  // As cancelled tasks do, a cancelled one ends as `lost`.
  Task<ProbeOutcome> run(ProbeTarget target, model::Probe probe);
  // The deadline is the caller's.
  Task<Result<void>> run_hook(ProbeTarget target, model::LifecycleHandler hook);

 private:
  Task<ProbeOutcome> run_exec(ProbeTarget target, std::vector<std::string> command,
                              Duration timeout);
  Task<ProbeOutcome> run_get(ProbeTarget target, model::HttpGetAction action, Duration timeout);
  Task<ProbeOutcome> run_connect(Result<ProbeUrl> url, Duration timeout);

  ProbeNetwork& network_;
  ContainerExec* exec_;
};

}  // namespace codeflare::node
