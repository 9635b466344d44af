#include "apiserver/request/forbidden.h"

#include "model/status.h"

#include <string>
#include <utility>

namespace codeflare::apiserver {

Error forbidden(const About& about, std::string_view why) {
  model::Status status;
  status.status = "Failure";
  status.code = 403;
  status.reason = "Forbidden";
  status.message = about.resource;
  if (!about.group.empty()) {
    status.message.append(".").append(about.group);
  }
  if (!about.name.empty()) {
    status.message.append(" \"").append(about.name).append("\"");
  }
  status.message.append(" is forbidden: ").append(why);
  status.details = model::StatusDetails{.name = std::string(about.name),
                                        .group = std::string(about.group),
                                        .kind = std::string(about.resource)};
  return model::to_error(std::move(status));
}

Error forbidden(const Resource& resource, std::string_view name, std::string_view why) {
  return forbidden({.group = resource.group, .resource = resource.plural, .name = name}, why);
}

}  // namespace codeflare::apiserver
