#include "apiserver/identity/static_tokens.h"

#include "apiserver/identity/internal/openssl.h"

#include <optional>
#include <utility>

namespace codeflare::apiserver {

namespace {

// RFC 4180 as Go's reader takes it: fields in quotes may hold commas, line ends and doubled quotes;
// empty lines do not count.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  // The next record, empty at the end; nothing when a quote is out of place.
  std::optional<std::vector<std::string>> next() {
    std::vector<std::string> record;
    while (at_ < text_.size() && take_line_end()) {
    }
    line_ = next_line_;
    if (at_ >= text_.size()) {
      return record;
    }
    for (;;) {
      auto field = at_ < text_.size() && text_[at_] == '"' ? read_quoted() : read_plain();
      if (!field) {
        return std::nullopt;
      }
      record.push_back(*std::move(field));
      if (at_ >= text_.size() || take_line_end()) {
        return record;
      }
      ++at_;  // the comma
    }
  }
  std::size_t line() const { return line_; }  // where the last record began

 private:
  bool take_line_end() {
    if (text_.substr(at_).starts_with("\r\n")) {
      ++at_;
    } else if (text_[at_] != '\n') {
      return false;
    }
    ++at_;
    ++next_line_;
    return true;
  }

  std::optional<std::string> read_plain() {
    std::size_t end = std::min(text_.find_first_of(",\n\"", at_), text_.size());
    if (end < text_.size() && text_[end] == '"') {
      return std::nullopt;
    }
    std::size_t stop = end;
    if (end < text_.size() && text_[end] == '\n' && stop > at_ && text_[stop - 1] == '\r') {
      --stop;
    }
    std::string field(text_.substr(at_, stop - at_));
    at_ = stop;
    return field;
  }

  std::optional<std::string> read_quoted() {
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c != '"') {
        next_line_ += c == '\n' ? 1 : 0;
        field += c;
        continue;
      }
      ++at_;
      if (at_ < text_.size() && text_[at_] == '"') {
        field += '"';
        continue;
      }
      bool ends = at_ >= text_.size() || text_[at_] == ',' || text_[at_] == '\n' ||
                  text_.substr(at_).starts_with("\r\n");
      return ends ? std::optional(std::move(field)) : std::nullopt;
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<StaticTokens> StaticTokens::parse(const Secret& text, const std::string& path,
                                         std::vector<std::string>* warnings) {
  StaticTokens tokens;
  CsvReader reader(text.reveal());
  auto warn = [&](std::string what) {
    if (warnings != nullptr) {
      warnings->push_back("token file " + path + ", line " + std::to_string(reader.line()) + ": " +
                          std::move(what));
    }
  };
  for (;;) {
    auto record = reader.next();
    if (!record) {
      return fail(invalid_argument("token file " + path + ", line " +
                                   std::to_string(reader.line()) + ": a quote is out of place"));
    }
    if (record->empty()) {
      return tokens;
    }
    if (record->size() < 3) {
      return fail(
          invalid_argument("token file " + path + ", line " + std::to_string(reader.line()) +
                           ": at least 3 columns are needed (token, user name, user uid), found " +
                           std::to_string(record->size())));
    }
    std::string& token = record->front();
    if (token.empty()) {
      warn("an empty token is skipped");
      continue;
    }
    User user{.name = (*record)[1], .uid = (*record)[2]};
    if (record->size() > 3) {
      user.groups = split((*record)[3]);
    }
    bool added =
        tokens.by_digest_.insert_or_assign(internal::sha256(token), std::move(user)).second;
    wipe(token);
    if (!added) {
      warn("the token stands here a second time; this line counts");
    }
  }
}

const User* StaticTokens::find(std::string_view token) const {
  auto found = by_digest_.empty() ? by_digest_.end() : by_digest_.find(internal::sha256(token));
  return found == by_digest_.end() ? nullptr : &found->second;
}

}  // namespace codeflare::apiserver
