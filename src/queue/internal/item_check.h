#pragma once

#include "json/value.h"
#include "model/app_wrapper.h"
#include "queue/demand.h"
#include "queue/kinds/problems.h"

#include <cstddef>
#include <optional>
#include <string>

namespace codeflare::queue {

// The template of one item as a tree, and what it says it is.
struct CheckedItem {
  json::Document document;
  ItemInfo info;
};

// "spec.resources.GenericItems[3]"
std::string item_field(std::size_t item);

// Nothing when it is not an object at all. Otherwise whatever is wrong with its type, name,
// namespace and owners goes to `problems`.
std::optional<CheckedItem> check_item(const model::AppWrapper& wrapper, std::size_t item,
                                      Problems& problems);

}  // namespace codeflare::queue
