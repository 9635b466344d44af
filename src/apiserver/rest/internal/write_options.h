#pragma once

#include "apiserver/request/request_info.h"
#include "base/result.h"
#include "net/http.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

enum class FieldValidation : std::uint8_t { ignore, warn, strict };

// The query of a write.
struct WriteOptions {
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::warn;
  std::string field_manager{};  // never empty: the User-Agent stands in
  bool field_manager_given = false;
  bool force = false;
  bool managed_fields_done = false;  // apply has put them in order
};

// `kind` names the options in errors: CreateOptions, UpdateOptions, PatchOptions.
Result<WriteOptions> write_options(const RequestInfo& info, const net::Headers& headers,
                                   std::string_view kind);

}  // namespace codeflare::apiserver::internal
