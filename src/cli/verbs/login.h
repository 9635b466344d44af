#pragma once

#include "cli/verbs/verb.h"

namespace codeflare::cli {

extern const Verb kLogin;
extern const Verb kLogout;

}  // namespace codeflare::cli
