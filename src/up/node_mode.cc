#include "up/node_mode.h"

#include <utility>

namespace codeflare::up {

namespace {

constexpr std::string_view kIsolated = "isolated";
constexpr std::string_view kPlain = "plain";
constexpr std::string_view kNetworked = "own-network";
constexpr std::string_view kShared = "machine-network";

Error less(const std::string& what, const std::string& why) {
  return failed_precondition(
      what + " at the last start, which is not possible now: " + why +
      "\n  see docs/up.md to allow it, or start without it: --allow-plain-processes");
}

}  // namespace

std::string to_text(const NodeMode& mode) {
  return std::string(mode.isolated ? kIsolated : kPlain) + " " +
         std::string(mode.networked ? kNetworked : kShared) + "\n";
}

Result<NodeMode> parse_node_mode(std::string_view text) {
  for (const bool isolated : {true, false}) {
    for (const bool networked : {true, false}) {
      const NodeMode mode{.isolated = isolated, .networked = networked};
      if (text == to_text(mode)) {
        return mode;
      }
    }
  }
  return fail(invalid_argument("not the mode of a node: " + std::string(text.substr(0, 80))));
}

Result<void> check_node_mode(const std::optional<NodeMode>& before, const FoundMode& found) {
  if (before && before->isolated && !found.mode.isolated) {
    return fail(less("pods had their own namespaces", found.not_isolated));
  }
  if (before && before->networked && !found.mode.networked) {
    return fail(less("pods had their own addresses", found.not_networked));
  }
  return {};
}

Task<Result<std::optional<NodeMode>>> read_node_mode(Env env, std::string file) {
  const Result<std::string> text = co_await run_blocking(env, [&] { return env.files.read(file); });
  if (!text && text.error().code == ErrorCode::not_found) {
    co_return std::nullopt;
  }
  Result<NodeMode> mode = text ? parse_node_mode(*text) : fail(text.error());
  if (!mode) {
    co_return fail(std::move(mode).error().with_context(file));
  }
  co_return *mode;
}

Task<Result<void>> remember_node_mode(Env env, std::string file, std::optional<NodeMode> before,
                                      NodeMode now) {
  if (before == now) {
    co_return Result<void>();
  }
  const std::string text = to_text(now);
  co_return co_await run_blocking(env, [&] { return env.files.write(file, text); });
}

}  // namespace codeflare::up
