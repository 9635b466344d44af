#include "cli/gather/training_jobs.h"

#include "kube/client.h"
#include "model/codec/training_job.h"
#include "queue/training_work.h"

#include <utility>

namespace codeflare::cli {

Task<Result<std::vector<model::TrainingJob>>> list_standalone_jobs(Session& session,
                                                                   std::string ns) {
  std::vector<model::TrainingJob> jobs;
  const Result<kube::ObjectList> list = co_await session.client().list_all(
      model::resource_type<model::TrainingJob>(), {.ns = std::move(ns)});
  if (!list && list.error().code == ErrorCode::not_found) {
    co_return jobs;
  }
  if (!list) {
    co_return fail(list.error());
  }
  for (const kube::ObjectRef& object : list->items) {
    Result<model::TrainingJob> job = object->as<model::TrainingJob>();
    if (job && queue::wrapper_of(*job).empty()) {
      jobs.push_back(*std::move(job));
    }
  }
  co_return jobs;
}

}  // namespace codeflare::cli
