#pragma once

#include "apiserver/request/admission.h"
#include "json/parse.h"
#include "json/write.h"

#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// One write on its way through an admission rule, given by texts, for tests.
struct AdmissionCall {
  User user{};
  std::string group{};
  std::string plural{};
  std::string ns{};
  std::string name{};
  std::string object{};
  std::string old{};  // empty: a creation
  std::string subresource{};
  WallTime now{};

  // The object as the rule left it, or the error.
  std::string run(Admission& rule) const {
    Resource resource;
    resource.group = group;
    resource.plural = plural;
    auto document = json::parse(object);
    auto before = old.empty() ? std::nullopt : std::optional(*json::parse(old));
    CHECK(document.has_value());
    WriteContext context{
        .arena = document->arena, .now = now, .subresource = {}, .warnings = nullptr};
    AdmissionRequest request{.user = user,
                             .resource = resource,
                             .operation = before ? Operation::update : Operation::create,
                             .subresource = subresource,
                             .ns = ns,
                             .name = name,
                             .object = &document->root,
                             .old = before ? &before->root : nullptr,
                             .context = context};
    Result<void> result = rule.mutate(request);
    if (result) {
      result = rule.validate(request);
    }
    return result ? json::to_text(document->root) : result.error().message;
  }
};

}  // namespace codeflare::apiserver
