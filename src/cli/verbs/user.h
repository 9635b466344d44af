#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "kube/config.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kUser;

struct UserFlags {
  std::string name;
  std::string role = "user";
  std::vector<std::string> groups;
  int days = 365;
  std::string file;     // empty: NAME.kubeconfig
  kube::Config server;  // where the new kubeconfig leads
};
// `codeflare user add|list|remove`: roles of people in namespaces, and kubeconfigs for them.
Task<int> run_user_add(Session& session, UserFlags flags);
Task<int> run_user_list(Session& session, UserFlags flags);
Task<int> run_user_remove(Session& session, UserFlags flags);

}  // namespace codeflare::cli
