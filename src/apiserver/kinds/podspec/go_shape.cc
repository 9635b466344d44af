#include "apiserver/kinds/podspec/go_shape.h"

#include "json/write.h"

namespace codeflare::apiserver::podspec {

std::string show_as_go(const json::Value& value, std::span<const GoField> fields) {
  std::string out = "{";
  for (const GoField& field : fields) {
    out.append(out.size() > 1 ? ",\"" : "\"").append(field.name).append("\":");
    const json::Value* member = value.find(field.key);
    if (member == nullptr || member->is_null()) {
      out.append(field.zero);
    } else if (field.fields.empty()) {
      out.append(json::to_text(*member));
    } else {
      out.append(show_as_go(*member, field.fields));
    }
  }
  return out + "}";
}

}  // namespace codeflare::apiserver::podspec
