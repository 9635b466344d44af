// Cases on standard input, one JSON object per line: a resource, an object of it, and the columns
// and cells with which Kubernetes shows it at the moment `now`. Ours must be the same, but for the
// descriptions of columns. Prints the first differences.

#include "apiserver/kinds/printers.h"
#include "json/parse.h"
#include "json/write.h"

#include <cstdio>
#include <iostream>
#include <string>

using namespace codeflare;

namespace {

std::string shown(const std::vector<apiserver::Column>& columns) {
  std::string out;
  for (const apiserver::Column& column : columns) {
    out += column.name + ":" + column.type + ":" + column.format + ":" +
           std::to_string(column.priority) + " ";
  }
  return out;
}

std::string shown(const json::Value& columns) {
  std::string out;
  for (const json::Value& column : columns.items()) {
    out += std::string(column.string_or_empty("name")) + ":" +
           std::string(column.string_or_empty("type")) + ":" +
           std::string(column.string_or_empty("format")) + ":" +
           std::to_string(column.find("priority")->to_int64().value_or(-1)) + " ";
  }
  return out;
}

// Empty when ours is the same.
std::string difference(json::Document& test) {
  const json::Value& object = *test.root.find("object");
  std::string_view api_version = object.string_or_empty("apiVersion");
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  auto printer = apiserver::builtin_printer(core ? "" : api_version.substr(0, slash),
                                            core ? api_version : api_version.substr(slash + 1),
                                            test.root.string_or_empty("plural"));
  if (printer == nullptr) {
    return "no printer";
  }
  Result<WallTime> now = parse_rfc3339(test.root.string_or_empty("now"));
  if (!now) {
    return "no moment";
  }
  std::string columns = shown(*test.root.find("columns"));
  if (shown(printer->columns()) != columns) {
    return "columns " + shown(printer->columns()) + "instead of " + columns;
  }
  json::Value cells = json::Value::array();
  printer->print(object, *now, test.arena, cells);
  json::Value wanted = *test.root.find("cells");
  while (wanted.size() > printer->columns().size()) {
    wanted.erase_at(wanted.size() - 1);  // clients show no cell that has no column
  }
  return json::equal(cells, wanted) ? ""
                                    : json::to_text(cells) + " instead of " + json::to_text(wanted);
}

}  // namespace

int main() {
  constexpr int kShownMax = 10;
  int cases = 0;
  int wrong = 0;
  for (std::string line; std::getline(std::cin, line); ++cases) {
    Result<json::Document> test = json::parse(line);
    std::string problem = test ? difference(*test) : "not JSON";
    if (!problem.empty() && ++wrong <= kShownMax) {
      std::printf("%s\n    %s\n", problem.c_str(), line.c_str());
    }
  }
  std::printf("%d cases, %d differ\n", cases, wrong);
  return cases > 0 && wrong == 0 ? 0 : 1;
}
