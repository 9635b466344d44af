#include "apiserver/crd/json_path.h"

#include <array>
#include <charconv>
#include <utility>

namespace codeflare::apiserver {

class JsonPath::Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<Step>> read_all() {
    TRY_ASSIGN(std::vector<Step> steps, read_steps());
    if (at_ != text_.size()) {
      return fail(error("unexpected character"));
    }
    return steps;
  }

 private:
  Error error(std::string_view what) const {
    return invalid_argument("json path \"" + std::string(text_) + "\": " + std::string(what) +
                            " at " + std::to_string(at_));
  }
  bool more() const { return at_ < text_.size(); }
  bool take(std::string_view token) {
    bool there = text_.substr(at_).starts_with(token);
    at_ += there ? token.size() : 0;
    return there;
  }
  void skip_space() {
    while (more() && text_[at_] == ' ') {
      ++at_;
    }
  }

  // Up to something that can't belong to a path: the end of a filter's left side.
  Result<std::vector<Step>> read_steps() {
    std::vector<Step> steps;
    while (more()) {
      if (text_[at_] == '.') {
        ++at_;
        if (std::string name = read_name(); !name.empty()) {
          steps.push_back({.kind = Step::Kind::field, .name = std::move(name)});
        } else if (take("*")) {
          steps.push_back({.kind = Step::Kind::every});
        } else if (more() && text_[at_] != '[') {
          return fail(error("a name is missing"));
        }
      } else if (text_[at_] == '[') {
        ++at_;
        TRY_ASSIGN(Step step, read_bracket());
        steps.push_back(std::move(step));
      } else {
        break;
      }
    }
    return steps;
  }

  std::string read_name() {
    constexpr std::string_view kEnds = ".[]()=!<>*'\" ";
    std::string name;
    while (more()) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
      } else if (kEnds.find(text_[at_]) != std::string_view::npos) {
        break;
      }
      name.push_back(text_[at_++]);
    }
    return name;
  }

  Result<std::string> read_quoted(char quote) {
    std::string text;
    while (more() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
      }
      text.push_back(text_[at_++]);
    }
    if (!more()) {
      return fail(error("unterminated text"));
    }
    ++at_;
    return text;
  }

  Result<Step> read_bracket() {
    Step step;
    if (take("?(")) {
      TRY_ASSIGN(step, read_filter());
    } else if (take("*")) {
      step.kind = Step::Kind::every;
    } else if (take("'")) {
      TRY_ASSIGN(step.name, read_quoted('\''));
    } else if (take("\"")) {
      TRY_ASSIGN(step.name, read_quoted('"'));
    } else {
      step.kind = Step::Kind::index;
      const char* end = text_.data() + text_.size();
      auto [stop, failed] = std::from_chars(text_.data() + at_, end, step.index);
      if (failed != std::errc()) {
        return fail(error("an index is missing"));
      }
      at_ = static_cast<std::size_t>(stop - text_.data());
      take(":");  // [-1:] is the last one
    }
    if (!take("]")) {
      return fail(error("] is missing"));
    }
    return step;
  }

  Result<Step> read_filter() {
    Step step{.kind = Step::Kind::filter};
    skip_space();
    if (!take("@")) {
      return fail(error("@ is missing"));
    }
    TRY_ASSIGN(step.left, read_steps());
    skip_space();
    static constexpr std::array<std::pair<std::string_view, Compare>, 6> kOperators = {
        {{"==", Compare::equal},
         {"!=", Compare::unequal},
         {"<=", Compare::at_most},
         {">=", Compare::at_least},
         {"<", Compare::less},
         {">", Compare::more}}};
    for (const auto& [token, compare] : kOperators) {
      if (take(token)) {
        step.compare = compare;
        break;
      }
    }
    if (step.compare != Compare::exists) {
      TRY(read_literal(step));
    }
    skip_space();
    if (!take(")")) {
      return fail(error(") is missing"));
    }
    return step;
  }

  Result<void> read_literal(Step& step) {
    skip_space();
    for (char quote : {'"', '\''}) {
      if (take(std::string_view(&quote, 1))) {
        step.literal_is_text = true;
        TRY_ASSIGN(step.literal, read_quoted(quote));
        return {};
      }
    }
    while (more() && text_[at_] != ')' && text_[at_] != ' ') {
      step.literal.push_back(text_[at_++]);
    }
    return step.literal.empty() ? Result<void>(fail(error("a value is missing"))) : Result<void>();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<JsonPath> JsonPath::parse(std::string_view text) {
  JsonPath path;
  TRY_ASSIGN(path.steps_, Reader(text).read_all());
  return path;
}

const json::Value* JsonPath::first(const json::Value& root) const {
  return find(root, steps_.data(), steps_.data() + steps_.size());
}

const json::Value* JsonPath::find(const json::Value& value, const Step* at, const Step* end) {
  if (at == end) {
    return &value;
  }
  if (at->kind == Step::Kind::field) {
    const json::Value* member = value.find(at->name);
    return member == nullptr ? nullptr : find(*member, at + 1, end);
  }
  if (at->kind == Step::Kind::index) {
    auto size = static_cast<std::int64_t>(value.items().size());
    std::int64_t index = at->index < 0 ? size + at->index : at->index;
    bool there = index >= 0 && index < size;
    return there ? find(value.items()[static_cast<std::size_t>(index)], at + 1, end) : nullptr;
  }
  for (const json::Value& item : value.items()) {
    if (at->kind == Step::Kind::every || accepts(*at, item)) {
      if (const json::Value* found = find(item, at + 1, end)) {
        return found;
      }
    }
  }
  for (const json::Member& member : value.members()) {
    if (at->kind == Step::Kind::every) {
      if (const json::Value* found = find(member.value, at + 1, end)) {
        return found;
      }
    }
  }
  return nullptr;
}

bool JsonPath::accepts(const Step& filter, const json::Value& item) {
  const json::Value* value =
      find(item, filter.left.data(), filter.left.data() + filter.left.size());
  if (value == nullptr || filter.compare == Compare::exists) {
    return value != nullptr;
  }
  int order = 0;
  if (filter.literal_is_text) {
    if (!value->is_string()) {
      return false;
    }
    order = value->as_string().compare(filter.literal);
  } else if (value->is_boolean()) {
    order = (value->as_bool() ? "true" : "false") == filter.literal ? 0 : 1;
  } else {
    double literal = 0;
    auto [end, failed] = std::from_chars(filter.literal.data(),
                                         filter.literal.data() + filter.literal.size(), literal);
    if (failed != std::errc() || !value->is_number()) {
      return false;
    }
    double number = value->to_double().value_or(0);
    order = number < literal ? -1 : number > literal ? 1 : 0;
  }
  switch (filter.compare) {
    case Compare::equal:
      return order == 0;
    case Compare::unequal:
      return order != 0;
    case Compare::less:
      return order < 0;
    case Compare::at_most:
      return order <= 0;
    case Compare::more:
      return order > 0;
    default:
      return order >= 0;
  }
}

}  // namespace codeflare::apiserver
