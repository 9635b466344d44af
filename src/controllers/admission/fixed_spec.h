#pragma once

#include "json/value.h"

#include <string>
#include <vector>

// The fields of an AppWrapper that stay as they were submitted. The definition has no rule for it:
// a server would judge that at each write of the status too. Where nobody asks this function, on
// clusters without our webhook, crds/appwrappers_policy.yaml says the same.
namespace codeflare::admission {

// One problem, "field: what", for each member of the spec that may not differ and does. Values
// count, not how they are written: the order of members means nothing, and 1 is 1.0.
std::vector<std::string> spec_changes(const json::Value& object, const json::Value& old);

}  // namespace codeflare::admission
