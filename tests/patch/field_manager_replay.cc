// Reads writes from standard input, one JSON object per line (see tests/kubernetes/oracle), and
// compares managedFields, objects and errors with ours. Fails when they differ, or when there was
// nothing to compare.

#include "apiserver/patch/field_manager.h"
#include "apiserver/schema/builtin.h"
#include "apiserver/schema/compile.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

constexpr int kShownMax = 5;

bool is_zero(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return true;
    case json::Kind::boolean:
      return !value.as_bool();
    case json::Kind::number:
      return value.number() == "0";
    case json::Kind::string:
      return value.as_string().empty();
    case json::Kind::array:
    case json::Kind::object:
      return value.size() == 0;
  }
  return false;
}

// Zero values come and go with the Go types of an object; sets have been compared by
// then.
json::Value essence(json::Arena& arena, const json::Value& value) {
  if (value.is_object()) {
    json::Value result = json::Value::object();
    for (const json::Member& member : value.members()) {
      json::Value child = essence(arena, member.value);
      if (!is_zero(child)) {
        result.set(arena, member.key, child);
      }
    }
    return result;
  }
  if (value.is_array()) {
    json::Value result = json::Value::array();
    for (const json::Value& item : value.items()) {
      result.push_back(arena, essence(arena, item));
    }
    return result;
  }
  return value;
}

std::string entries_of(const json::Value& object) {
  const json::Value* entries = object.get({"metadata", "managedFields"});
  return entries == nullptr ? "" : json::to_text(*entries);
}

bool same_entries(const json::Value& ours, const json::Value& theirs, bool custom) {
  if (!custom) {
    return entries_of(ours) == entries_of(theirs);
  }
  // Upstream keeps these as Go maps, whose order means nothing.
  const json::Value* a = ours.get({"metadata", "managedFields"});
  const json::Value* b = theirs.get({"metadata", "managedFields"});
  return a == nullptr || b == nullptr ? a == b : json::equal(*a, *b);
}

std::string compare(json::Value ours, json::Value theirs, bool custom) {
  if (!same_entries(ours, theirs, custom)) {
    return "managedFields differ\n  theirs " + entries_of(theirs) + "\n  ours   " +
           entries_of(ours);
  }
  json::Arena arena;
  json::Value a = essence(arena, ours);
  json::Value b = essence(arena, theirs);
  // The server's own, put there between the steps.
  b.find("metadata")->erase("uid");
  a.find("metadata")->erase("uid");
  return json::equal(a, b)
             ? ""
             : "objects differ\n  theirs " + json::to_text(b) + "\n  ours   " + json::to_text(a);
}

std::vector<std::string> sorted_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

// The schema of a custom resource comes with each line and is always the same.
const schema::Node* node_of(const json::Value& line) {
  const json::Value* custom = line.find("schema");
  if (custom == nullptr) {
    return schema::find_builtin(line.string_or_empty("group"), line.string_or_empty("version"),
                                line.string_or_empty("kind"));
  }
  static const auto kCompiled = [&] {
    FieldErrors errors;
    auto compiled = schema::compile(*custom, {.object_meta = schema::object_meta()}, errors);
    for (const auto& cause : errors.causes()) {
      std::cout << cause.field << ": " << cause.message << "\n";
    }
    return compiled;
  }();
  return kCompiled == nullptr ? nullptr : &kCompiled->root();
}

// The problem, or nothing.
std::string check(const json::Value& line) {
  const schema::Node* node = node_of(line);
  auto now = parse_rfc3339(line.string_or_empty("now"));
  if (node == nullptr || !now) {
    return "the kind is unknown";
  }
  const json::Value& sent = *line.find("sent");
  ManagerId id;
  id.name = line.string_or_empty("manager");
  id.api_version = sent.string_or_empty("apiVersion");
  id.subresource = line.string_or_empty("subresource");
  for (const json::Value& path : line.find("reset")->items()) {
    id.reset_fields.push_back(path.as_string());
  }
  const json::Value* live = line.find("live");
  const json::Value* expected = line.find("result");
  json::Arena arena;
  if (line.string_or_empty("operation") == "Update") {
    json::Value object = sent.clone(arena);
    track_update(*node, arena, live, object, id, *now);
    return compare(object, *expected, line.find("schema") != nullptr);
  }
  auto result = apply(*node, arena, live, sent, id, line.find("force")->as_bool(), *now);
  if (!result) {
    // Several mistakes come in the order of a Go map there.
    std::string_view theirs = line.string_or_empty("error");
    bool same = sorted_lines(theirs) == sorted_lines(result.error().message);
    // An unknown member also hides those of its siblings that come after it.
    constexpr std::string_view kUnknown = "field not declared in schema";
    same = same || (theirs.find(kUnknown) != theirs.npos &&
                    result.error().message.find(kUnknown) != std::string::npos);
    return same ? "" : "theirs " + std::string(theirs) + "\n  ours   " + result.error().message;
  }
  return expected == nullptr ? "ours has no error: " + json::to_text(*result)
                             : compare(*result, *expected, line.find("schema") != nullptr);
}

int run() {
  int steps = 0;
  int failures = 0;
  std::string text;
  while (std::getline(std::cin, text)) {
    ++steps;
    auto line = json::parse(text);
    std::string wrong = line ? check(line->root) : line.error().to_string();
    if (!wrong.empty() && ++failures <= kShownMax) {
      std::cout << "step " << steps << ": " << text << "\n  " << wrong << "\n";
    }
  }
  std::cout << steps << " steps, " << failures << " differ\n";
  return steps == 0 || failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace codeflare::apiserver

int main() {
  return codeflare::apiserver::run();
}
