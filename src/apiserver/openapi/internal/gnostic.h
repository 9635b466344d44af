#pragma once

#include "apiserver/openapi/internal/path_writer.h"

#include <string>
#include <vector>

namespace codeflare::apiserver::openapi {

// A gnostic Document (openapi.v2) with one PATCH operation per path that has one.
std::string to_gnostic(const std::vector<PathInfo>& paths);

}  // namespace codeflare::apiserver::openapi
