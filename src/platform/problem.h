#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::platform {

// Why a Run cannot be compiled.
struct Problem {
  std::string object{};  // that holds the field: "Application default/train"; empty: the Run
  std::string field;     // "spec.parameters.epochs"
  std::string text;      // what is wrong and what to do
  // Names an object that may be created a moment later.
  bool missing = false;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// "Application default/train: spec.size: ..."
inline std::string to_string(const Problem& problem) {
  return (problem.object.empty() ? "" : problem.object + ": ") + problem.field + ": " +
         problem.text;
}

// Collects them.
class Problems {
 public:
  void add(std::string field, std::string text) {
    all_.push_back({.field = std::move(field), .text = std::move(text)});
  }
  void add(Problem problem) { all_.push_back(std::move(problem)); }
  bool empty() const { return all_.empty(); }
  std::vector<Problem> take() { return std::move(all_); }

 private:
  std::vector<Problem> all_;
};

}  // namespace codeflare::platform
