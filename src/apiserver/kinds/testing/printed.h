#pragma once

#include "apiserver/kinds/printers.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver::testing {

// The moment at which tests look at objects.
inline WallTime noon() {
  return *parse_rfc3339("2026-11-16T12:00:00Z");
}

// The cells of a row as JSON text: ["web","1/1",3].
inline std::string printed(const TablePrinter& printer, std::string_view object) {
  Result<json::Document> document = json::parse(object);
  CHECK(document.has_value());
  json::Value cells = json::Value::array();
  printer.print(document->root, noon(), document->arena, cells);
  return json::to_text(cells);
}

inline std::string printed(std::string_view group, std::string_view plural, std::string_view object,
                           std::string_view version = "v1") {
  auto printer = builtin_printer(group, version, plural);
  CHECK(printer != nullptr);
  return printed(*printer, object);
}

}  // namespace codeflare::apiserver::testing
