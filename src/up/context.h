#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "up/state.h"

#include <string>

namespace codeflare::up {

// "codeflare", or with the directory's own name when it is not the user's usual one.
std::string context_name(const Variables& variables, const std::string& directory);

// The cluster that a verb means.
struct ChosenCluster {
  std::string directory;
  std::string warning{};  // the current context is another cluster's
};
// `given`, else that of the current context, else the user's usual one. Blocks on files.
Result<ChosenCluster> choose_cluster(Env env, const std::string& given);

struct NewContext {
  std::string name;
  std::string kubeconfig;     // where its cluster and user are described
  AddedContext earlier = {};  // what a run that was killed had added
};
// Adds the context to the file that kubectl would write to and makes it current. Nothing is done
// when that file is the very kubeconfig that describes it.
Task<Result<AddedContext>> add_context(Env env, NewContext context);

// Takes it out again, and what was current before is current again if it still exists. Leaves alone
// what is not ours any more: `kubeconfig` tells by the authority.
Task<Result<void>> take_out_context(Env env, AddedContext context, std::string kubeconfig);

}  // namespace codeflare::up
