#include "s3/internal/xml_reader.h"

#include <charconv>
#include <utility>

namespace codeflare::s3::internal {

namespace {

constexpr std::size_t kDepthMax = 32;

std::unexpected<Error> wrong(std::string_view what) {
  return fail(data_loss("the answer of the object store is not XML: " + std::string(what)));
}

bool append_utf8(std::string& out, std::uint32_t c) {
  if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
    return false;
  }
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 63));
    out += static_cast<char>(0x80 | ((c >> 6) & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
  return true;
}

bool append_entity(std::string& out, std::string_view name) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, c] : kNamed) {
    if (name == known) {
      out += c;
      return true;
    }
  }
  if (!name.starts_with('#')) {
    return false;
  }
  name.remove_prefix(1);
  const bool is_hex = name.starts_with('x');
  name.remove_prefix(is_hex ? 1 : 0);
  std::uint32_t code = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, code, is_hex ? 16 : 10);
  return error == std::errc() && at == end && append_utf8(out, code);
}

Result<std::string> decode(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t mark = text.find('&');
    out += text.substr(0, mark);
    if (mark == std::string_view::npos) {
      break;
    }
    text.remove_prefix(mark + 1);
    const std::size_t end = text.find(';');
    if (end == std::string_view::npos || !append_entity(out, text.substr(0, end))) {
      return wrong("unknown entity");
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

// "Key" of "s3:Key attribute='x'".
std::string name_of(std::string_view tag) {
  tag = tag.substr(0, tag.find_first_of(" \t\r\n/"));
  const std::size_t colon = tag.find(':');
  return std::string(colon == std::string_view::npos ? tag : tag.substr(colon + 1));
}

// Where the tag ends: at the first '>' outside of quotes.
std::size_t tag_end(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) {
      quote = text[i] == quote ? '\0' : quote;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '>') {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Result<void> XmlReader::skip_past(std::string_view mark) {
  const std::size_t at = rest_.find(mark);
  if (at == std::string_view::npos) {
    return wrong("it ends early");
  }
  rest_.remove_prefix(at + mark.size());
  return {};
}

Result<XmlReader::Token> XmlReader::next() {
  if (!closes_.empty()) {
    open_.pop_back();
    return Token{Kind::close, std::exchange(closes_, {})};
  }
  for (;;) {
    if (rest_.empty()) {
      return open_.empty() && has_root_ ? Result<Token>(Token{Kind::end, {}})
                                        : Result<Token>(wrong("it ends early"));
    }
    if (rest_.starts_with("<?")) {
      TRY(skip_past("?>"));
    } else if (rest_.starts_with("<!--")) {
      TRY(skip_past("-->"));
    } else if (rest_.starts_with("<!")) {
      return wrong("it has a declaration");
    } else if (rest_.front() == '<') {
      return tag();
    } else {
      const std::string_view raw = rest_.substr(0, rest_.find('<'));
      rest_.remove_prefix(raw.size());
      if (open_.empty()) {
        if (raw.find_first_not_of(" \t\r\n\xef\xbb\xbf") != std::string_view::npos) {
          return wrong("text outside of its elements");
        }
        continue;
      }
      TRY_ASSIGN(std::string text, decode(raw));
      return Token{Kind::text, std::move(text)};
    }
  }
}

Result<XmlReader::Token> XmlReader::tag() {
  rest_.remove_prefix(1);
  const std::size_t end = tag_end(rest_);
  if (end == std::string_view::npos) {
    return wrong("it ends within a tag");
  }
  std::string_view inner = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  const bool closing = inner.starts_with('/');
  inner.remove_prefix(closing ? 1 : 0);
  std::string name = name_of(inner);
  if (name.empty()) {
    return wrong("a tag has no name");
  }
  if (closing) {
    if (open_.empty() || open_.back() != name) {
      return wrong("</" + name + "> closes another element");
    }
    open_.pop_back();
    return Token{Kind::close, std::move(name)};
  }
  if (open_.size() == kDepthMax || (open_.empty() && has_root_)) {
    return wrong("too many elements");
  }
  has_root_ = true;
  open_.push_back(name);
  if (inner.ends_with('/')) {
    closes_ = name;
  }
  return Token{Kind::open, std::move(name)};
}

}  // namespace codeflare::s3::internal
