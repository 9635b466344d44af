#pragma once

#include <string>

namespace codeflare::controllers::scale::testing {

// The definition of somebody else's kind as JSON: NAME.json of the folder that the environment
// variable CODEFLARE_UPSTREAM_DEFINITIONS names (tests/crds/scale_test puts the published ones
// there), else the stand-in.
std::string definition_of(const std::string& name, std::string stand_in);

}  // namespace codeflare::controllers::scale::testing
