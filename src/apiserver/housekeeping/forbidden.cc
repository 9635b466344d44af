#include "apiserver/housekeeping/forbidden.h"

#include "model/status.h"

namespace codeflare::apiserver {

Error forbidden(const Resource& resource, std::string_view name, std::string_view why) {
  model::Status status;
  status.status = "Failure";
  status.code = 403;
  status.reason = "Forbidden";
  status.message = resource.qualified_name();
  if (!name.empty()) {
    status.message += " \"" + std::string(name) + "\"";
  }
  status.message += " is forbidden: " + std::string(why);
  status.details = model::StatusDetails{
      .name = std::string(name), .group = resource.group, .kind = resource.plural};
  return model::to_error(std::move(status));
}

}  // namespace codeflare::apiserver
