#pragma once

#include "apiserver/registry/resource.h"
#include "json/value.h"

#include <memory>

namespace codeflare::apiserver {

// The table of a custom resource: its name, then additionalPrinterColumns (an array; null or empty:
// the age). Columns whose path is not a JSONPath stay empty.
std::shared_ptr<const TablePrinter> make_column_printer(const json::Value* columns);

}  // namespace codeflare::apiserver
