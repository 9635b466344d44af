#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"
#include "kube/client.h"
#include "sdk/code_secrets.h"
#include "sdk/gang_job.h"

#include <optional>

// Jobs that are AppWrappers on their way to the server, with their code.
namespace codeflare::sdk {

// wrap(); with code the AppWrapper is suspended until all of it is there, and carries a digest by
// which the same submission is known again. Empty archives are left out.
json::Document wrap_with_code(Wrapping wrapping, const json::Value& objects,
                              const std::optional<CodeArchive>& code);

struct Submitted {
  bool resumed = false;  // an earlier client had begun it
};

// Creates the AppWrapper of wrap_with_code(), sends the code and releases it. At most one job of
// the name is created; the same submission goes on where a client was killed. already_exists: the
// name is taken.
Task<Result<Submitted>> submit_wrapper(kube::Client& client, model::ObjectKey key,
                                       json::Document manifest, std::optional<CodeArchive> code);

}  // namespace codeflare::sdk
