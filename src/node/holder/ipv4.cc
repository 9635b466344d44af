#include "node/holder/ipv4.h"

#include <charconv>

namespace codeflare::node {

namespace {

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t max) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // "010" means something else to some readers.
  if (error != std::errc() || end != text.data() + text.size() || value > max ||
      (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  return value;
}

std::string joined(std::uint32_t value, char between) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += std::to_string((value >> shift) & 0xff);
    if (shift > 0) {
      text += between;
    }
  }
  return text;
}

}  // namespace

std::optional<Ipv4> Ipv4::parse(std::string_view text) {
  Ipv4 address;
  for (int i = 0; i < 4; ++i) {
    const std::size_t dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) {
      return std::nullopt;
    }
    const auto octet = number(text.substr(0, dot), 255);
    if (!octet) {
      return std::nullopt;
    }
    address.value = address.value << 8 | *octet;
    text.remove_prefix(i < 3 ? dot + 1 : dot);
  }
  return address;
}

std::string Ipv4::to_string() const {
  return joined(value, '.');
}

std::string Ipv4::to_dashed() const {
  return joined(value, '-');
}

Result<Ipv4Block> Ipv4Block::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto base = Ipv4::parse(text.substr(0, slash));
  const auto prefix =
      slash == std::string_view::npos ? std::nullopt : number(text.substr(slash + 1), 32);
  if (!base || !prefix) {
    return fail(invalid_argument("\"" + std::string(text) + "\" is not a block of addresses"));
  }
  const Ipv4Block block{.base = *base, .prefix = static_cast<int>(*prefix)};
  if (block.prefix < 32 && (base->value & (~0u >> block.prefix)) != 0) {
    return fail(invalid_argument("\"" + std::string(text) + "\" does not begin a block"));
  }
  return block;
}

std::string Ipv4Block::to_string() const {
  return base.to_string() + "/" + std::to_string(prefix);
}

}  // namespace codeflare::node
