#pragma once

#include "apiserver/schema/field_errors.h"
#include "json/value.h"

#include <string>

namespace codeflare::apiserver {

// What a job (or a template of one) at `path` says about pods that fail, indexes that are enough
// and pods that are replaced.
void validate_job_policies(const json::Value& spec, const std::string& path, FieldErrors& errors);

}  // namespace codeflare::apiserver
