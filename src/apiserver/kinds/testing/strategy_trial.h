#pragma once

#include "apiserver/kinds/strategies.h"
#include "json/parse.h"
#include "json/write.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// An object on its way through the strategy of its kind.
struct Trial {
  Trial(std::string_view group, std::string_view plural, std::string_view text,
        std::string_view subresource = "")
      : strategy(builtin_strategy(group, plural)), document(*json::parse(text)) {
    context.subresource = subresource;
  }

  Trial& create() {
    strategy->set_defaults(context, document.root);
    strategy->prepare_create(context, document.root);
    return *this;
  }
  // "field: message" of every complaint.
  std::vector<std::string> complaints() {
    FieldErrors errors;
    strategy->validate(context, document.root, errors);
    return lines(errors);
  }
  std::vector<std::string> complaints_against(const json::Value& old) {
    FieldErrors errors;
    strategy->set_defaults(context, document.root);
    strategy->prepare_update(context, document.root, old);
    strategy->validate(context, document.root, errors);
    strategy->validate_update(context, document.root, old, errors);
    return lines(errors);
  }
  static std::vector<std::string> lines(const FieldErrors& errors) {
    std::vector<std::string> out;
    for (const model::StatusCause& cause : errors.causes()) {
      out.push_back(cause.field + ": " + cause.message);
    }
    return out;
  }
  std::string at(std::initializer_list<std::string_view> path) const {
    const json::Value* value = document.root.get(path);
    return value == nullptr ? "absent" : json::to_text(*value);
  }

  std::shared_ptr<const Strategy> strategy;
  json::Document document;
  WriteContext context{
      .arena = document.arena, .now = {}, .subresource = {}, .warnings = nullptr, .user = nullptr};
};

using Lines = std::vector<std::string>;

}  // namespace codeflare::apiserver
