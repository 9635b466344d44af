#pragma once

#include "base/env/env.h"
#include "base/result.h"

#include <string>

namespace codeflare {

// Where `codeflare up` keeps everything unless told otherwise: per user, kept between runs,
// $XDG_STATE_HOME/codeflare/up.
Result<std::string> default_data_directory(const Variables& variables);

}  // namespace codeflare
