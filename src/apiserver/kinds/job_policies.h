#pragma once

#include "apiserver/schema/field_errors.h"
#include "json/value.h"

#include <string>

namespace codeflare::apiserver {

// The policies of a job (or a template of one) at `path` about failed pods, sufficient indexes and
// replaced pods.
void validate_job_policies(const json::Value& spec, const std::string& path, FieldErrors& errors);

}  // namespace codeflare::apiserver
