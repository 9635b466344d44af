#pragma once

#include "model/app_wrapper.h"

#include <string>

namespace codeflare::cli {

// The user that admission recorded; empty: nobody is recorded. The writer of the record is not
// checked: this is for lists, not for rights.
std::string submitter_of(const model::AppWrapper& wrapper);

}  // namespace codeflare::cli
