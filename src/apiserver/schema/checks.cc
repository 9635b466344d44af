#include "apiserver/schema/checks.h"

#include <re2/re2.h>

namespace codeflare::apiserver::schema {
namespace {

class Re2Pattern final : public Pattern {
 public:
  explicit Re2Pattern(std::string_view text) : Pattern(text), expression_(text, options()) {}
  bool matches(std::string_view text) const override {
    return RE2::PartialMatch(text, expression_);
  }
  std::optional<std::string_view> find(std::string_view text, std::size_t from) const override {
    re2::StringPiece found;
    if (!expression_.Match(text, from, text.size(), RE2::UNANCHORED, &found, 1)) {
      return std::nullopt;
    }
    return std::string_view(found.data(), found.size());
  }
  const RE2& expression() const { return expression_; }

 private:
  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    return options;
  }
  RE2 expression_;
};

}  // namespace

Result<std::shared_ptr<const Pattern>> Pattern::compile(std::string_view text) {
  auto pattern = std::make_shared<Re2Pattern>(text);
  if (!pattern->expression().ok()) {
    return fail(invalid_argument("error parsing regexp: " + pattern->expression().error()));
  }
  return std::shared_ptr<const Pattern>(std::move(pattern));
}

}  // namespace codeflare::apiserver::schema
