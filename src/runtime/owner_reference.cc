#include "runtime/owner_reference.h"

#include "json/write.h"

namespace codeflare::runtime {

std::string controlled_by(const model::ResourceType& type, const kube::Object& owner) {
  std::string text;
  json::Writer w(text);
  w.begin_array().begin_object();
  w.member("apiVersion", type.api_version()).member("kind", type.kind);
  w.member("name", owner.name()).member("uid", owner.uid());
  w.key("controller").boolean(true).key("blockOwnerDeletion").boolean(true);
  w.end_object().end_array();
  return text;
}

}  // namespace codeflare::runtime
