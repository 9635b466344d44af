#pragma once

#include "base/result.h"
#include "json/value.h"
#include "kube/kubeconfig.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::kube::internal {

// Text from a file made fit for a one-line message: quoted, without control characters, cut short.
std::string quoted(std::string_view text);
// "a", "b" and 3 more
std::string quoted_list(const std::vector<std::string>& names);

// Reads the fields of one mapping of a kubeconfig. A field of the wrong type yields an empty value
// and is remembered: the first error of the whole file is the one reported, so the code that
// reads reads straight through. Null counts as absent. No value is ever quoted: any may be secret.
class ConfigReader {
 public:
  struct State {
    std::string file;
    std::optional<Error> error;  // the first
    std::vector<std::string> warnings{};
  };

  // `value` may be null (absent): every field is then absent. Anything but a mapping is an error.
  ConfigReader(State& state, const json::Value* value, std::string path, std::string_view content);

  std::string string(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::vector<std::string> strings(std::string_view key) const;
  std::map<std::string, std::vector<std::string>> string_lists(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // `content` says what was expected there ("name and cluster"); absent reads as empty.
  ConfigReader mapping(std::string_view key, std::string_view content) const;
  std::vector<ConfigReader> mappings(std::string_view key, std::string_view content) const;

  const json::Value* find(std::string_view key) const;
  std::string path_of(std::string_view key) const;
  ConfigPlace place() const { return {state_->file, path_}; }
  void report(std::string_view key, std::string_view what) const;
  // Warns of every other field: it is probably misspelt or stands at the wrong place.
  void expect_only(std::initializer_list<std::string_view> known) const;

 private:
  void expected(const std::string& path, std::string_view what, const json::Value& found) const;
  std::vector<std::string> strings_of(const json::Value& list, const std::string& path) const;

  State* state_;
  const json::Value* value_;  // a mapping, or null
  std::string path_;
};

}  // namespace codeflare::kube::internal
