#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kListRun;
extern const Verb kListApplications;
extern const Verb kListDataSets;
extern const Verb kListSizes;
extern const Verb kStatusRun;
extern const Verb kDetailsRun;

struct ShowRunFlags {
  std::string name;
  bool all_namespaces = false;
  std::string selector;
};
// `codeflare list run`
Task<int> run_list_run(Session& session, ShowRunFlags flags);
// `codeflare list applications`
Task<int> run_list_applications(Session& session, ShowRunFlags flags);
// `codeflare list datasets`
Task<int> run_list_datasets(Session& session, ShowRunFlags flags);
// `codeflare list sizes`: what they mean here, the built-in ones included.
Task<int> run_list_sizes(Session& session, ShowRunFlags flags);
// `codeflare status run NAME`
Task<int> run_status_run(Session& session, ShowRunFlags flags);
// `codeflare details run NAME`: with every value and its origin.
Task<int> run_details_run(Session& session, ShowRunFlags flags);

}  // namespace codeflare::cli
