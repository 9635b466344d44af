#include "cli/verbs/internal/local_cluster.h"

#include "up/context.h"

#include <utility>

namespace codeflare::cli::internal {

Result<std::string> local_directory(Env env, Console& console, const std::string& given) {
  TRY_ASSIGN(up::ChosenCluster cluster, up::choose_cluster(env, given));
  if (!cluster.warning.empty()) {
    console.err("warning: " + cluster.warning + "\n");
  }
  return std::move(cluster.directory);
}

}  // namespace codeflare::cli::internal
