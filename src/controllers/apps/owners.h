#pragma once

#include "kube/object.h"
#include "model/labels.h"
#include "model/meta.h"
#include "runtime/map_function.h"
#include "runtime/store.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::apps {

// The controller of an object; empty when nobody does.
struct Controller {
  std::string uid;
  std::string api_version;
};
Controller controller_of(const kube::Object& object);
// Its UID alone.
std::string controller_uid(const kube::Object& object);

// The objects of one kind and namespace under one controller, given the metadata of one of them.
// Only itself when it has no controller.
std::vector<runtime::ObjectRef> siblings(const runtime::Store& store,
                                         const model::ObjectMeta& metadata);
// The objects of the controller with this UID.
std::vector<runtime::ObjectRef> controlled(const runtime::Store& store, std::string_view ns,
                                           std::string_view uid);

// For an object that nobody controls: whoever in its namespace selects its labels. `store` holds
// kinds with a spec.selector of metav1.LabelSelector and must outlive the function.
runtime::MapFunction who_may_adopt(const runtime::Store& store);

// The labels of an object, from its text.
model::StringMap labels_of(const kube::Object& object);

}  // namespace codeflare::controllers::apps
