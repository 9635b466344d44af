#pragma once

#include "apiserver/openapi/internal/path_writer.h"

#include <string>
#include <vector>

namespace codeflare::apiserver::openapi {

// A gnostic Document (openapi.v2) with one PATCH operation per path that has one, and a Definitions
// message.
std::string to_gnostic(const std::vector<PathInfo>& paths, const std::string& definitions);

}  // namespace codeflare::apiserver::openapi
