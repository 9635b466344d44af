#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"

#include <string>

namespace codeflare::checkpoint {

// 32 random bytes, in hexadecimal digits.
Secret make_key(Random& random);
// The key of the tokens: the file's content without line breaks at its end.
Result<Secret> read_key(FileSystem& files, const std::string& path);
// Makes a key when the file is missing.
Result<Secret> read_or_make_key(Env env, const std::string& path);

}  // namespace codeflare::checkpoint
