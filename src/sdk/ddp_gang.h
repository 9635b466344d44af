#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "sdk/ddp_job.h"
#include "sdk/submit_gang.h"

#include <optional>
#include <string>

// DDP jobs on Kubernetes: one pod per replica, torchrun in each, rendezvous at replica 0.
namespace codeflare::sdk {

// What the definition itself does not say.
struct DdpPlace {
  std::string ns;
  std::string base_directory{};       // of a relative workspace
  std::string image{};                // where the definition has none
  std::optional<CodeArchive> code{};  // of the workspace
  std::string program_image{};
};

// Sizes that are not given: one replica of one CPU, a process for each GPU, no limit of memory.
Result<GangSubmission> ddp_gang(const DdpDefinition& definition, const DdpPlace& place);

// Packs the workspace, chooses the image where none is given, and submits under the definition's
// name.
Task<Result<Submitted>> submit_ddp_gang(kube::Client& client, DdpDefinition definition,
                                        DdpPlace place);

}  // namespace codeflare::sdk
