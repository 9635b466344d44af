#pragma once

#include "base/error.h"

#include <expected>
#include <utility>

namespace codeflare {

// The result of every fallible function: the value, or an Error that says what may be done.
template <typename T>
using Result = std::expected<T, Error>;

// Turns an Error into the failing side of any Result: `return fail(not_found("..."));`
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace codeflare

#define CODEFLARE_CONCAT_INNER(a, b) a##b
#define CODEFLARE_CONCAT(a, b) CODEFLARE_CONCAT_INNER(a, b)

// TRY(expr): leave with expr's error. TRY_ASSIGN(auto x, expr): the value, or leave with the error.
// The CO_ forms are for coroutines and take `co_await f(...)` as the expression.
#define CODEFLARE_TRY(leave, name, expr)              \
  auto name = (expr);                                 \
  if (!name) [[unlikely]] {                           \
    leave ::codeflare::fail(std::move(name).error()); \
  }                                                   \
  static_assert(true)

#define CODEFLARE_TRY_ASSIGN(leave, name, target, expr) \
  auto name = (expr);                                   \
  if (!name) [[unlikely]] {                             \
    leave ::codeflare::fail(std::move(name).error());   \
  }                                                     \
  target = *std::move(name)

#define TRY(...) CODEFLARE_TRY(return, CODEFLARE_CONCAT(try_result_, __LINE__), (__VA_ARGS__))
#define CO_TRY(...) CODEFLARE_TRY(co_return, CODEFLARE_CONCAT(try_result_, __LINE__), (__VA_ARGS__))
#define TRY_ASSIGN(target, ...) \
  CODEFLARE_TRY_ASSIGN(return, CODEFLARE_CONCAT(try_result_, __LINE__), target, (__VA_ARGS__))
#define CO_TRY_ASSIGN(target, ...) \
  CODEFLARE_TRY_ASSIGN(co_return, CODEFLARE_CONCAT(try_result_, __LINE__), target, (__VA_ARGS__))
