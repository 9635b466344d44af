#include "apiserver/rest/internal/write_options.h"

#include "apiserver/schema/field_errors.h"

#include <algorithm>

namespace codeflare::apiserver::internal {
namespace {

constexpr std::size_t kManagerBytesMax = 128;

// The program's name, as upstream takes it from the User-Agent.
std::string manager_of(const net::Headers& headers) {
  std::string_view agent = headers.get("User-Agent").value_or("unknown");
  agent = agent.substr(0, agent.find('/'));
  std::string name(agent.substr(0, kManagerBytesMax));
  std::erase_if(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x7f;
  });
  return name.empty() ? "unknown" : name;
}

}  // namespace

Result<WriteOptions> write_options(const RequestInfo& info, const net::Headers& headers,
                                   std::string_view kind) {
  WriteOptions options;
  FieldErrors errors;
  for (const auto& [name, value] : info.query.all()) {
    if (name != "dryRun" || value.empty()) {
      continue;
    }
    options.dry_run = true;
    if (value != "All") {
      errors.not_supported("dryRun", "[\"" + value + "\"]", {"All"});
    }
  }
  const std::string_view validation = info.query.get("fieldValidation").value_or("");
  if (validation == "Ignore") {
    options.field_validation = FieldValidation::ignore;
  } else if (validation == "Strict") {
    options.field_validation = FieldValidation::strict;
  } else if (!validation.empty() && validation != "Warn") {
    errors.not_supported("fieldValidation", "\"" + std::string(validation) + "\"",
                         {"", "Ignore", "Strict", "Warn"});
  }
  if (std::optional<std::string_view> manager = info.query.get("fieldManager");
      manager && !manager->empty()) {
    options.field_manager = *manager;
    options.field_manager_given = true;
    if (manager->size() > kManagerBytesMax) {
      errors.too_long("fieldManager", kManagerBytesMax);
    }
    if (std::ranges::any_of(*manager, [](char c) {
          const auto byte = static_cast<unsigned char>(c);
          return byte < 0x20 || byte == 0x7f;
        })) {
      errors.invalid_text("fieldManager", *manager, "invalid character");
    }
  } else {
    options.field_manager = manager_of(headers);
  }
  options.force = info.query.flag("force");
  if (!errors.empty()) {
    return fail(errors.to_error("meta.k8s.io", kind, ""));
  }
  return options;
}

}  // namespace codeflare::apiserver::internal
