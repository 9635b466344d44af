#include "platform/words.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace codeflare::platform {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> split() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (is_blank(c)) {
        end_word();
      } else if (c == '\'') {
        TRY(single_quoted());
      } else if (c == '"') {
        TRY(double_quoted());
      } else if (c == '\\') {
        if (at_ == text_.size()) {
          return fail(invalid_argument("the text ends with a backslash; write \\\\ for one"));
        }
        word().push_back(text_[at_++]);
      } else {
        word().push_back(c);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  std::string& word() { return begun_ ? *begun_ : begun_.emplace(); }
  void end_word() {
    if (begun_) {
      words_.push_back(*std::move(begun_));
      begun_.reset();
    }
  }
  Result<void> single_quoted() {
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) {
      return no_end('\'');
    }
    word() += text_.substr(at_, end - at_);
    at_ = end + 1;
    return {};
  }
  Result<void> double_quoted() {
    const std::size_t begin = at_;
    word();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() &&
          (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\')) {
        ++at_;
      }
      word().push_back(text_[at_++]);
    }
    if (at_ == text_.size()) {
      at_ = begin;
      return no_end('"');
    }
    ++at_;
    return {};
  }
  Result<void> no_end(char quote) const {
    return fail(invalid_argument(std::string("the quote ") + quote + " at character " +
                                 std::to_string(at_) + " has no end"));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> begun_;
  std::vector<std::string> words_;
};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,@%+").contains(c);
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  return Splitter(text).split();
}

std::string quote_word(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace codeflare::platform
