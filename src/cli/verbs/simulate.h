#pragma once

#include "cli/verbs/verb.h"

namespace codeflare::cli {

// Its work is in cli/simulate/.
extern const Verb kSimulate;

}  // namespace codeflare::cli
