#include "elastic/exit_class.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <string>

namespace codeflare::elastic {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool has_any(std::string_view text, auto words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

// Words of frameworks for a connection whose other end is gone.
bool tells_of_a_lost_peer(std::string_view last_lines) {
  const std::string text = lower_case(last_lines);
  constexpr std::array kNccl = {std::string_view("ncclremoteerror"),
                                std::string_view("ncclsystemerror"), std::string_view("nccl error"),
                                std::string_view("nccl communicator was aborted")};
  constexpr std::array kTransport = {std::string_view("gloo"), std::string_view("tcpstore"),
                                     std::string_view("c10d"), std::string_view("socket")};
  constexpr std::array kBroken = {std::string_view("connection reset by peer"),
                                  std::string_view("connection closed by peer"),
                                  std::string_view("connection refused"),
                                  std::string_view("broken pipe"),
                                  std::string_view("connection was likely closed"),
                                  std::string_view("timed out")};
  return has_any(text, kNccl) || (has_any(text, kTransport) && has_any(text, kBroken));
}

}  // namespace

ExitClass classify_exit(const ExitFacts& facts) {
  if (facts.exit.success()) {
    return ExitClass::none;
  }
  if (facts.planned) {
    return ExitClass::planned;
  }
  const int code = facts.exit.shell_code();
  if (code == 128 + SIGKILL) {
    return facts.out_of_memory ? ExitClass::out_of_memory : ExitClass::infrastructure;
  }
  if (code == 128 + SIGTERM || code == 128 + SIGHUP || tells_of_a_lost_peer(facts.last_lines)) {
    return ExitClass::infrastructure;
  }
  return ExitClass::user;
}

std::string_view last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  const auto start = text.rfind('\n');
  return start == std::string_view::npos ? text : text.substr(start + 1);
}

}  // namespace codeflare::elastic
