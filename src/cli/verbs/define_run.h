#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/submit_run.h"
#include "cli/verbs/verb.h"
#include "model/application.h"

#include <optional>
#include <string>

namespace codeflare::cli {

extern const Verb kDefineRun;

struct DefineRunFlags {
  // The first word that is not an option: the name, or with --name an option of the application.
  std::string first_word;
  SubmitRunFlags run;
  bool force = false;
};
// `codeflare define run NAME`: writes NAME.run.yaml. Without the Application the types of the
// parameters follow from how their values look.
Task<int> run_define_run(Session& session, DefineRunFlags flags,
                         std::optional<model::Application> application);

}  // namespace codeflare::cli
