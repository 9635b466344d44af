#pragma once

#include "base/result.h"
#include "kube/object.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"

#include <string>

namespace codeflare::controllers {

model::ResourceType app_wrapper_type(model::WrapperApi api);

// The struct, whichever of the two groups the object is of.
Result<model::AppWrapper> to_app_wrapper(const kube::Object& object);

// Of one whose spec cannot be read: all but the spec, so that its status can say so.
Result<model::AppWrapper> to_app_wrapper_without_spec(const kube::Object& object);

// The body of a PUT that makes the status into `after`: of all but the status a server keeps what
// it has, and what is unknown to us stays. `before` is what was read of the status of `object`;
// rejected when somebody has written that since. A patch would do the same, but kube-apiserver
// writes out and reads again the whole object for it, which costs it a fifth more.
Result<std::string> status_body(const kube::Object& object, const model::AppWrapperStatus& before,
                                const model::AppWrapperStatus& after);

}  // namespace codeflare::controllers
