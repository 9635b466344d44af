#pragma once

#include <source_location>
#include <string_view>

namespace codeflare::internal {

[[noreturn]] void check_failed(std::string_view condition, std::string_view message,
                               std::source_location where);

}  // namespace codeflare::internal

// A broken invariant of our own: prints the place and aborts, in every build. Never for input.
#define CHECK(condition, ...)                                               \
  do {                                                                      \
    if (!(condition)) [[unlikely]] {                                        \
      ::codeflare::internal::check_failed(#condition, "" __VA_ARGS__,       \
                                          std::source_location::current()); \
    }                                                                       \
  } while (false)

// As CHECK, in debug builds only: for checks too expensive for a hot path.
#ifdef NDEBUG
#define DCHECK(condition, ...) \
  do {                         \
  } while (false)
#else
#define DCHECK(condition, ...) CHECK(condition, __VA_ARGS__)
#endif
