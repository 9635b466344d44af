// Headers of most files, compiled once per build folder (cmake/prelude.cmake). Files still
// include what they use: headers are checked alone, and CODEFLARE_PRELUDE=OFF builds without this.
//
// Of our own headers only those of base that hardly ever change: a change of one compiles
// everything again. None of a higher layer: below it could be used without an include, which lint
// would not see.
#pragma once

#include "base/async/task.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/time.h"
#include "cmake/prelude_std.h"
