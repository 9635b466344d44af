#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/request/request_info.h"
#include "apiserver/store/object.h"
#include "base/result.h"
#include "model/fields.h"
#include "model/labels.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// Which objects of a collection a request is about. Works on the stored text: only the labels or
// the fields that are asked for are read.
class Selection {
 public:
  // 400 for selectors that can't be read or fields that the kind does not offer.
  static Result<Selection> parse(const RequestInfo& info, const Resource& resource,
                                 const ServedVersion& version);

  bool matches(const Object& object) const;
  // No selector: only the namespace decides.
  bool is_everything() const { return labels_.selects_everything() && fields_.empty(); }
  const std::string& ns() const { return ns_; }  // empty: all

 private:
  struct Field {
    enum class Source : std::uint8_t { name, ns, text };
    Source source = Source::text;
    std::string path;
    std::string absent;
    std::string value;
    bool negated = false;
  };
  bool field_matches(const Object& object, const Field& field) const;

  std::string ns_;
  model::Selector labels_;
  std::vector<Field> fields_;
};

}  // namespace codeflare::apiserver::internal
