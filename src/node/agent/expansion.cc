#include "node/agent/expansion.h"

namespace codeflare::node {

std::string expand(std::string_view text, const VariableMap& variables) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char next = text[++at];
    if (next != '(') {
      out += next == '$' ? "$" : std::string("$") + next;
      continue;
    }
    const std::size_t end = text.find(')', at);
    if (end == std::string_view::npos) {
      out += "$(";
      continue;
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    const auto found = variables.find(name);
    if (found != variables.end()) {
      out += found->second;
    } else {
      out += "$(";
      out += name;
      out += ')';
    }
    at = end;
  }
  return out;
}

}  // namespace codeflare::node
