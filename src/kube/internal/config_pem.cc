#include "kube/internal/config_pem.h"

#include "base/base64.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::kube::internal {

namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";

struct Block {
  std::string label;
  bool encrypted = false;
};

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ';
  });
}

std::string_view next_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  return line;
}

// "-----BEGIN X-----" → X.
std::optional<std::string_view> label_of(std::string_view line, std::string_view start) {
  if (!line.starts_with(start) || !line.ends_with(kDashes) ||
      line.size() < start.size() + kDashes.size()) {
    return std::nullopt;
  }
  line.remove_prefix(start.size());
  line.remove_suffix(kDashes.size());
  return is_label(line) ? std::optional(line) : std::nullopt;
}

// The rest of a block whose first line is gone already.
Result<Block> read_block(std::string_view& text, std::string label) {
  Block block{std::move(label), false};
  std::string body;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (line.starts_with(kEnd)) {
      if (label_of(line, kEnd) != block.label) {
        return fail(invalid_argument("its " + block.label + " block ends under another name"));
      }
      Result<std::string> bytes = from_base64(body);
      if (!bytes || bytes->empty()) {
        return fail(invalid_argument("its " + block.label + " block is not valid base64"));
      }
      return block;
    }
    if (line.contains(':')) {  // headers of old encrypted keys
      block.encrypted |= line.contains("ENCRYPTED");
    } else {
      body += line;
    }
  }
  return fail(invalid_argument("its " + block.label + " block has no end"));
}

Result<std::vector<Block>> read_blocks(std::string_view text) {
  std::vector<Block> blocks;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (std::optional<std::string_view> label = label_of(line, kBegin)) {
      TRY_ASSIGN(Block block, read_block(text, std::string(*label)));
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

bool is_certificate(const Block& block) {
  return block.label.ends_with("CERTIFICATE");
}

bool is_key(const Block& block) {
  return block.label.ends_with("PRIVATE KEY");
}

}  // namespace

Result<void> check_pem(std::string_view text, PemKind kind) {
  std::string expected = kind == PemKind::certificates ? "expected PEM with a CERTIFICATE block"
                                                       : "expected PEM with a PRIVATE KEY block";
  Result<std::vector<Block>> blocks = read_blocks(text);
  if (!blocks) {
    return fail(invalid_argument(expected + ", " + blocks.error().message));
  }
  if (blocks->empty()) {
    return fail(invalid_argument(expected + ", found no PEM block"));
  }
  auto wanted = kind == PemKind::certificates ? is_certificate : is_key;
  auto found = std::ranges::find_if(*blocks, wanted);
  if (found == blocks->end()) {
    return fail(invalid_argument(expected + ", found only " + blocks->front().label));
  }
  if (found->encrypted || found->label.starts_with("ENCRYPTED")) {
    return fail(invalid_argument(expected + " without a passphrase, found an encrypted one"));
  }
  return {};
}

}  // namespace codeflare::kube::internal
