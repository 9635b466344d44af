#pragma once

#include "json/value.h"

#include <string_view>
#include <vector>

namespace codeflare::json::internal {

// The order in which `kubectl -o yaml` prints keys: at the first difference letters come after
// other characters, and runs of digits compare as numbers (a2 before a10). Not transitive for odd
// mixtures of digits and letters, so it must not be handed to std::sort.
bool naturally_less(std::string_view a, std::string_view b);

// Sorts by key, whatever naturally_less says; the keys must differ.
void sort_naturally(std::vector<const Member*>& members);

}  // namespace codeflare::json::internal
