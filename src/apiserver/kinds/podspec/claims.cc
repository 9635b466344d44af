#include "apiserver/kinds/podspec/checks.h"
#include "apiserver/kinds/podspec/go_shape.h"

#include <array>

namespace codeflare::apiserver::podspec {

namespace {

constexpr std::array<GoField, 3> kClaim = {
    {{.name = "Name", .key = "name", .zero = "\"\""},
     {.name = "ResourceClaimName", .key = "resourceClaimName"},
     {.name = "ResourceClaimTemplateName", .key = "resourceClaimTemplateName"}}};

void complain_unknown(const Field& used, std::string_view name, const Names& claims) {
  std::string all;
  for (const std::string& known : claims) {
    all.append(all.empty() ? ": " : ", ").append(known);
  }
  used.errors().add({.reason = "FieldValueNotFound",
                     .message = "Not found: " + quote(name) +
                                ": must be one of the names in pod.spec.resourceClaims" +
                                (claims.empty() ? " which is empty" : all),
                     .field = used.path(),
                     .extra = {}});
}

// A claim is used once: as a whole, or each of its requests.
void check_used_once(const Field& used, Names& seen) {
  const std::string name(used.text("name"));
  const std::string_view request = used.text("request");
  if (seen.contains(name)) {
    used.duplicate("", name);
    return;
  }
  check_name(used, "request", model::check_dns1123_label);
  const std::string key = request.empty() ? name : name + "/" + std::string(request);
  if (seen.contains(key)) {
    used.duplicate("", key);
  } else if (request.empty()) {
    for (const std::string& other : seen) {
      if (other.starts_with(name + "/")) {
        used.duplicate("", name);
      }
    }
  }
  seen.insert(key);
}

}  // namespace

Names claim_names(const Field& claims) {
  Names names;
  claims.each([&](const Field& claim) {
    if (!claim.text("name").empty()) {
      names.emplace(claim.text("name"));
    }
  });
  return names;
}

void check_claims(const Field& claims) {
  Names names;
  claims.each([&](const Field& claim) {
    const std::string_view name = claim.text("name");
    if (names.contains(name)) {
      claim.duplicate("name", name);
    } else {
      need_name(claim, "name", model::check_dns1123_label);
      if (!name.empty()) {
        names.emplace(name);
      }
    }
    const bool by_name = claim.has("resourceClaimName");
    const bool by_template = claim.has("resourceClaimTemplateName");
    if (by_name && by_template) {
      claim.invalid("", show_as_go(claim.value(), kClaim),
                    "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                    "specified");
    } else if (!by_name && !by_template) {
      claim.invalid("", show_as_go(claim.value(), kClaim),
                    "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    for (std::string_view key : {"resourceClaimName", "resourceClaimTemplateName"}) {
      if (claim.has(key)) {
        check_any_name(claim, key, model::check_dns1123_subdomain);
      }
    }
  });
}

void check_used_claims(const Field& used, const Names& claims) {
  Names seen;
  used.each([&](const Field& claim) {
    const std::string_view name = claim.text("name");
    if (name.empty()) {
      claim.required("");
      return;
    }
    check_used_once(claim, seen);
    if (!claims.contains(name)) {
      complain_unknown(claim, name, claims);
    }
  });
}

}  // namespace codeflare::apiserver::podspec
