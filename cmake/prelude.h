// The standard headers that most files include anyway, compiled once per build folder
// (cmake/prelude.cmake). Files still include what they use: headers are checked alone, and
// CODEFLARE_PRELUDE=OFF builds without this.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
