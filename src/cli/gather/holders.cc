#include "cli/gather/holders.h"

#include "cli/gather/training_jobs.h"
#include "cli/gather/wrappers.h"
#include "cli/views/kinds.h"
#include "cli/views/wrapper_view.h"
#include "model/meta.h"

#include <utility>

namespace codeflare::cli {

namespace {

// People know what they submitted, not what it became.
void add_wrapper(const GroupedWrapper& wrapper, Holders& to) {
  const model::OwnerReference* owner = model::controller_of(wrapper.metadata);
  to.wrappers.push_back(view_of(wrapper).full_name() +
                        (owner == nullptr ? "" : " of " + owner->kind + " " + owner->name));
  to.of_runs = to.of_runs || (owner != nullptr && owner->kind == "Run");
}

}  // namespace

Task<Result<Holders>> gather_holders(Session& session) {
  Holders holders;
  KnownKind wrappers = app_wrapper_kind();
  wrappers.any_group = true;
  CO_TRY_ASSIGN(const WrapperList list, co_await list_groups(session, std::move(wrappers), "", ""));
  for (const GroupedWrapper& wrapper : list.wrappers) {
    if (view_of(wrapper).holds) {
      add_wrapper(wrapper, holders);
    }
  }
  CO_TRY_ASSIGN(const std::vector<model::TrainingJob> jobs,
                co_await list_standalone_jobs(session, ""));
  for (const model::TrainingJob& job : jobs) {
    if (job.status.plan) {
      holders.jobs.push_back(job.metadata.ns + "/" + job.metadata.name);
    }
  }
  co_return holders;
}

}  // namespace codeflare::cli
