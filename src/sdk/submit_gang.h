#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"
#include "kube/client.h"
#include "sdk/code_secrets.h"
#include "sdk/gang_job.h"
#include "sdk/submit_wrapper.h"

#include <optional>
#include <string>

namespace codeflare::sdk {

// A job of the back end Kubernetes before it is submitted.
struct GangSubmission {
  GangJob gang;                       // labels, code and its working directory are added here
  Wrapping queueing{};                // quota, priority and limit; its name is the gang's
  std::string command{};              // for people
  std::optional<CodeArchive> code{};  // empty archives are left out
  std::string program_image{};        // unpacks the code
};

// The AppWrapper that is created for it; suspended as long as its code is not there.
Result<json::Document> gang_manifest(const GangSubmission& submission);

// Creates the AppWrapper, sends the code and releases it. At most one job of the name comes about;
// the same submission goes on where a client was killed. already_exists: the name is taken.
Task<Result<Submitted>> submit_gang(kube::Client& client, GangSubmission submission);

}  // namespace codeflare::sdk
