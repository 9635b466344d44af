#pragma once

#include "cli/verbs/verb.h"

// Verbs for AppWrappers, given the name of the Ray cluster inside.
namespace codeflare::cli {

extern const Verb kExplainRayCluster;
extern const Verb kHoldRayCluster;
extern const Verb kReleaseRayCluster;

}  // namespace codeflare::cli
