#include "model/run.h"

namespace codeflare::model {

bool is_terminal(const RunStatus& status) {
  return status.phase == run_phase::kCompleted || status.phase == run_phase::kFailed;
}

}  // namespace codeflare::model
