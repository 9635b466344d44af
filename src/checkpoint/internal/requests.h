#pragma once

#include "base/result.h"
#include "checkpoint/store.h"
#include "net/http.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Paths and bodies of requests; nothing here does I/O.
namespace codeflare::checkpoint::internal {

// "/v1/jobs/NS/UID/rest/of/path": the segments after the UID.
struct JobPath {
  JobKey job{};
  std::vector<std::string> rest{};
};
// Nothing when the path is not one of a job.
Result<std::optional<JobPath>> parse_job_path(std::string_view path);

Result<CheckpointId> parse_id(std::string_view text);
// The limit of a list; the query's other items are ignored.
Result<std::size_t> parse_limit(std::string_view query);
// The part's name is not in the query.
Result<PutRequest> parse_put(std::string_view query, std::optional<std::size_t> size);

Result<BeginRequest> parse_begin(std::string_view body, Retention retention);
Result<CommitRequest> parse_commit(std::string_view body);
Result<LeaseRequest> parse_lease(std::string_view name, std::string_view body);
Result<std::int64_t> parse_fence(std::string_view body);

}  // namespace codeflare::checkpoint::internal
