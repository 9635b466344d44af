// Reads cases from standard input, one JSON object per line (see tests/kubernetes/oracle), and
// compares the recorded results with ours. Fails when they differ, or when there was nothing to
// compare.

#include "apiserver/patch/strategic_merge.h"
#include "apiserver/schema/builtin.h"
#include "json/parse.h"
#include "json/write.h"

#include <iostream>
#include <string>

namespace codeflare::apiserver {
namespace {

constexpr int kShownMax = 5;

// The problem, or nothing.
std::string check(const json::Value& line) {
  const schema::Node* node = schema::find_builtin(
      line.string_or_empty("group"), line.string_or_empty("version"), line.string_or_empty("kind"));
  if (node == nullptr) {
    return "the kind is unknown";
  }
  json::Arena arena;
  json::Value target = line.find("original")->clone(arena);
  auto result = strategic_merge(*node, arena, target, *line.find("patch"));
  const json::Value* expected = line.find("result");
  if (!result) {
    // Which of several mistakes is named depends on the order of a Go map there.
    return expected == nullptr ? "" : "ours fails: " + result.error().to_string();
  }
  if (expected == nullptr) {
    return "ours gives " + json::to_text(target);
  }
  return json::equal(*expected, target) ? "" : "ours gives " + json::to_text(target);
}

int run() {
  int cases = 0;
  int failures = 0;
  std::string text;
  while (std::getline(std::cin, text)) {
    ++cases;
    auto line = json::parse(text);
    std::string wrong = line ? check(line->root) : line.error().to_string();
    if (!wrong.empty() && ++failures <= kShownMax) {
      std::cout << "case " << cases << ": " << text << "\n  " << wrong << "\n";
    }
  }
  std::cout << cases << " cases, " << failures << " differ\n";
  return cases == 0 || failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace codeflare::apiserver

int main() {
  return codeflare::apiserver::run();
}
