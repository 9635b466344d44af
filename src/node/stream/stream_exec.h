#pragma once

#include "node/stream/container_exec.h"
#include "node/stream/pod_streams.h"

namespace codeflare::node {

// Programs of probes and hooks, started the way that exec goes: by the init of their container, so
// that its namespaces and limits are theirs.
class StreamExec final : public ContainerExec {
 public:
  explicit StreamExec(PodStreams& pods) : pods_(pods) {}
  Task<Result<ExecOutcome>> run(ExecCommand command) override;

 private:
  PodStreams& pods_;
};

}  // namespace codeflare::node
