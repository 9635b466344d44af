#pragma once

#include "kube/object.h"

namespace codeflare::runtime {

// For InformerOptions::transform: all but metadata.managedFields. They are about half of an object
// that several write, hardly any controller looks at them, and a server takes an update without
// them as one that leaves them alone.
kube::ObjectRef without_managed_fields(kube::ObjectRef object);

}  // namespace codeflare::runtime
