#pragma once

#include "model/gvk.h"
#include "model/meta.h"
#include "runtime/reconciler.h"

#include <string>

namespace codeflare::controllers::apps {

// The reference that makes an object with this metadata the controller of another.
model::OwnerReference controller_reference(const model::ResourceType& type,
                                           const model::ObjectMeta& owner);

// Writes that give `owner` to an object that has no controller, and take it away again; both are
// rejected when the object is another one by then.
runtime::Action adopt(const model::ResourceType& type, const model::ObjectKey& key,
                      const std::string& uid, const model::OwnerReference& owner);
runtime::Action release(const model::ResourceType& type, const model::ObjectKey& key,
                        const std::string& uid, const std::string& owner_uid);

}  // namespace codeflare::controllers::apps
