#pragma once

#include "base/result.h"
#include "kube/object.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"

namespace codeflare::controllers {

// The resource in its own group, or in the one of MCAD's time.
model::ResourceType app_wrapper_type(bool legacy);

// The struct, whichever of the two groups the object is of.
Result<model::AppWrapper> to_app_wrapper(const kube::Object& object);

// Of one whose spec cannot be read: all but the spec, so that its status can say so.
Result<model::AppWrapper> to_app_wrapper_without_spec(const kube::Object& object);

}  // namespace codeflare::controllers
