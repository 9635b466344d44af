#include "queue/internal/embedded_templates.h"

#include "json/pointer.h"

namespace codeflare::queue {
namespace {

bool is_pod_template(const json::Value& value) {
  const json::Value* containers = value.get({"spec", "containers"});
  return containers != nullptr && containers->is_array();
}

void collect(json::Value& value, std::string& pointer, std::vector<EmbeddedTemplate>& found) {
  if (is_pod_template(value)) {
    found.push_back({pointer, &value});
    return;
  }
  const std::size_t length = pointer.size();
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    pointer.append("/").append(std::to_string(i));
    collect(value.items()[i], pointer, found);
    pointer.resize(length);
  }
  for (json::Member& member : value.members()) {
    if (member.value.size() > 0) {
      pointer.append("/").append(json::escape_token(member.key));
      collect(member.value, pointer, found);
      pointer.resize(length);
    }
  }
}

}  // namespace

std::vector<EmbeddedTemplate> embedded_templates(json::Value& object) {
  std::vector<EmbeddedTemplate> found;
  std::string pointer;
  collect(object, pointer, found);
  return found;
}

}  // namespace codeflare::queue
