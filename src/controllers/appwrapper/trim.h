#pragma once

#include "kube/object.h"

// The parts of watched objects that the queue keeps. Each keeps name, namespace, uid,
// resourceVersion, labels and owners; an object that cannot be read stays as it is.
namespace codeflare::controllers {

// Requests, node, phase, whether a scheduler rejected it, and containers in trouble; constraints
// only until it is bound.
kube::ObjectRef trimmed_pod(kube::ObjectRef pod);
// Labels, taints, allocatable amounts, readiness.
kube::ObjectRef trimmed_node(kube::ObjectRef node);
// Conditions and phase of a wrapped object.
kube::ObjectRef trimmed_item(kube::ObjectRef item);

}  // namespace codeflare::controllers
