#include "controllers/apps/claim.h"

#include "json/write.h"
#include "model/codec/meta.h"

#include <utility>

namespace codeflare::controllers::apps {

model::OwnerReference controller_reference(const model::ResourceType& type,
                                           const model::ObjectMeta& owner) {
  return {.api_version = type.api_version(),
          .kind = type.kind,
          .name = owner.name,
          .uid = owner.uid,
          .controller = true,
          .block_owner_deletion = true};
}

runtime::Action adopt(const model::ResourceType& type, const model::ObjectKey& key,
                      const std::string& uid, const model::OwnerReference& owner) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object().member("uid", uid);
  w.key("ownerReferences").begin_array().raw(model::to_json_text(owner)).end_array();
  w.end_object().end_object();
  return {.verb = runtime::Action::Verb::patch,
          .type = type,
          .key = key,
          .body = std::move(body),
          .why = "labels match and the pod has no controller",
          .together = true,
          .patch_kind = kube::PatchKind::strategic_merge};
}

runtime::Action release(const model::ResourceType& type, const model::ObjectKey& key,
                        const std::string& uid, const std::string& owner_uid) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object().member("uid", uid);
  w.key("ownerReferences").begin_array().begin_object();
  w.member("$patch", "delete").member("uid", owner_uid);
  w.end_object().end_array().end_object().end_object();
  return {.verb = runtime::Action::Verb::patch,
          .type = type,
          .key = key,
          .body = std::move(body),
          .why = "labels no longer match",
          .together = true,
          .patch_kind = kube::PatchKind::strategic_merge};
}

}  // namespace codeflare::controllers::apps
