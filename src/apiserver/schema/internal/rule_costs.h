#pragma once

#include "apiserver/schema/field_errors.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::schema::internal {

// Adds up what the rules of a definition may cost, and rejects what costs more than upstream
// allows: one expression, and all together.
class RuleCosts {
 public:
  // `what`: "estimated rule cost", as the message begins.
  void add(std::string path, std::string_view what, std::uint64_t cost, FieldErrors& errors);
  // `path`: of the whole schema.
  void check_total(const std::string& path, FieldErrors& errors) const;

 private:
  struct Rule {
    std::string path;
    std::uint64_t cost = 0;
  };
  std::uint64_t total_ = 0;
  std::vector<Rule> most_expensive_;  // most first; a few, those that count
};

}  // namespace codeflare::apiserver::schema::internal
