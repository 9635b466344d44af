#pragma once

#include "model/status.h"

#include <string>
#include <string_view>
#include <vector>

// A server's findings about the objects inside an AppWrapper, in terms of the AppWrapper. Pure.
namespace codeflare::admission {

struct WrappedFindings {
  std::vector<std::string> problems{};  // "field: what"
  std::vector<std::string> warnings{};

  // `field` is the item's: "spec.resources.GenericItems[0]". A problem is "spec.x: what" or a
  // sentence about the whole object.
  void add_problem(std::string_view field, std::string_view problem);
  void add_unknown(std::string_view field, std::string_view path);
  // As the server answers a creation that it rejects.
  void add_rejection(std::string_view field, const model::Status& status);
};

// The path in `unknown field "spec.x"`; empty when the text says something else.
std::string unknown_field_in(std::string_view text);

}  // namespace codeflare::admission
