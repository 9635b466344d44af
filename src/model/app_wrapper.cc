#include "model/app_wrapper.h"

namespace codeflare::model {

bool is_terminal(const AppWrapperStatus& status) {
  return status.state == app_wrapper_state::kCompleted ||
         status.state == app_wrapper_state::kFailed || status.state == app_wrapper_state::kDeleted;
}

}  // namespace codeflare::model
