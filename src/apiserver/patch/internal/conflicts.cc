#include "apiserver/patch/internal/conflicts.h"

#include "model/status.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

namespace codeflare::apiserver::internal {
namespace {

// As many as anybody reads.
std::span<const FieldConflict> shown(const std::vector<FieldConflict>& conflicts) {
  constexpr std::size_t kShownMax = 256;
  return std::span(conflicts).first(std::min(conflicts.size(), kShownMax));
}

std::string message_of(const std::vector<FieldConflict>& conflicts) {
  if (conflicts.size() == 1) {
    return "Apply failed with 1 conflict: conflict with " + describe(conflicts[0].manager) + ": " +
           shortened(to_text(conflicts[0].path));
  }
  std::string message = "Apply failed with " + std::to_string(conflicts.size()) + " conflicts: ";
  std::string last;
  bool first = true;
  for (const FieldConflict& conflict : shown(conflicts)) {
    std::string id = identifier(conflict.manager);
    if (first || id != last) {
      message +=
          (first ? "conflicts with " : "\nconflicts with ") + describe(conflict.manager) + ":";
    }
    message += "\n- " + shortened(to_text(conflict.path));
    last = std::move(id);
    first = false;
  }
  return message;
}

}  // namespace

Error conflict_error(std::vector<FieldConflict> conflicts) {
  // By manager; the paths of one keep their order.
  std::map<std::string, std::vector<FieldConflict>> by_manager;
  for (FieldConflict& conflict : conflicts) {
    by_manager[identifier(conflict.manager)].push_back(std::move(conflict));
  }
  conflicts.clear();
  for (auto& [id, of_manager] : by_manager) {
    std::ranges::move(of_manager, std::back_inserter(conflicts));
  }
  model::Status status;
  status.status = "Failure";
  status.code = 409;
  status.reason = "Conflict";
  status.message = message_of(conflicts);
  for (const FieldConflict& conflict : shown(conflicts)) {
    model::StatusCause cause;
    cause.reason = "FieldManagerConflict";
    cause.message = "conflict with " + describe(conflict.manager);
    cause.field = shortened(to_text(conflict.path));
    auto& details = status.details ? *status.details : status.details.emplace();
    details.causes.push_back(std::move(cause));
  }
  return model::to_error(std::move(status));
}

}  // namespace codeflare::apiserver::internal
