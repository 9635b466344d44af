#include "apiserver/cel/internal/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver::cel {
namespace {

using Kind = Expression::Kind;
using Macro = Expression::Macro;
using Operation = Expression::Operation;
using Type = Declared::Kind;

constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();
constexpr double kPerCharacter = 0.1;
constexpr double kPerPatternCharacter = 0.25;
constexpr std::uint64_t kListCost = 10;
constexpr std::uint64_t kMapCost = 30;

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  return a > kNoBound - b ? kNoBound : a + b;
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kNoBound / b ? kNoBound : a * b;
}

std::uint64_t scaled(std::uint64_t count, double factor) {
  const double product = std::ceil(static_cast<double>(count) * factor);
  return product >= std::ldexp(1.0, 64) ? kNoBound : static_cast<std::uint64_t>(product);
}

struct Size {
  std::uint64_t min = 0;
  std::uint64_t max = kNoBound;
};

Size united(Size a, Size b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

std::optional<Size> united_if_known(std::optional<Size> a, std::optional<Size> b) {
  return a && b ? std::optional(united(*a, *b)) : std::nullopt;
}

// The known facts about a part of the expression.
struct Estimate {
  std::uint64_t cost = 0;
  Type type = Type::dynamic;
  Declared place{};  // in the schema, for the types of fields and items
  // Reached by a path: the part of the schema that bounds the size, not visible behind its end.
  std::optional<Declared> path{};
  std::optional<Size> size{};
  // Of the items of a list that the expression makes.
  Type element = Type::dynamic;
  Declared element_place{};
  std::optional<Size> element_size{};
};

class Estimator {
 public:
  explicit Estimator(const Declared& self) : self_(self) {}

  Estimate estimate(const Expression& expression) {
    switch (expression.kind) {
      case Kind::null:
      case Kind::boolean:
      case Kind::integer:
      case Kind::unsigned_integer:
      case Kind::real:
        return {.type = Type::scalar, .size = Size{1, 1}};
      case Kind::text:
      case Kind::bytes:
        return literal_text(expression);
      case Kind::name:
      case Kind::type_name:
        return name(expression.text);
      case Kind::list:
        return list(expression);
      case Kind::map:
        return map(expression);
      case Kind::select:
        return select(expression);
      case Kind::has:
        // Presence costs nothing beyond the object.
        return {.cost = child(expression, 0).cost, .type = Type::scalar};
      case Kind::index:
        return index(expression);
      case Kind::negate:
      case Kind::negation:
        return {.cost = plus(child(expression, 0).cost, 1), .type = Type::scalar};
      case Kind::both:
      case Kind::either:
        return {.cost = cost_of_all(expression), .type = Type::scalar};
      case Kind::condition:
        return condition(expression);
      case Kind::binary:
        return binary(expression);
      case Kind::comprehension:
        return comprehension(expression);
      case Kind::call:
        return call(expression);
    }
    return {};
  }

 private:
  Estimate child(const Expression& expression, std::size_t i) {
    return estimate(*expression.children[i]);
  }

  std::uint64_t cost_of_all(const Expression& expression) {
    std::uint64_t cost = 0;
    for (const ExpressionPtr& part : expression.children) {
      cost = plus(cost, estimate(*part).cost);
    }
    return cost;
  }

  static Estimate literal_text(const Expression& expression) {
    const auto characters = static_cast<std::uint64_t>(
        std::ranges::count_if(expression.text, [](unsigned char c) { return (c & 0xC0) != 0x80; }));
    const bool text = expression.kind == Kind::text;
    const std::uint64_t size = text ? characters : expression.text.size();
    return {.type = text ? Type::text : Type::bytes, .size = Size{size, size}};
  }

  static Estimate typed(const Declared& place) {
    return {.type = place.visible() ? place.kind : Type::dynamic, .place = place};
  }

  // Upstream drops the first step of a path, as it should be a variable: the first step behind
  // anything else leads to self.
  Declared step_to_field(const Estimate& from, std::string_view field) const {
    return from.path ? declared_field(*from.path, field) : self_;
  }
  Declared step_to_item(const Estimate& from) const {
    return from.path ? declared_element(*from.path) : self_;
  }
  Declared step_to_key(const Estimate& from) const {
    return !from.path ? self_ : from.path->kind == Type::map ? declared_key() : Declared{};
  }

  // A name that is not a variable (a type, oldSelf) has the sizes of self, as upstream has it.
  Estimate name(std::string_view text) const {
    for (auto variable = scope_.rbegin(); variable != scope_.rend(); ++variable) {
      if (variable->first == text) {
        Estimate found = variable->second;
        found.cost = 1;
        return found;
      }
    }
    Estimate made = typed(self_);
    made.cost = 1;
    made.path = self_;
    return made;
  }

  std::optional<Size> known_size(const Estimate& part) {
    if (part.size) {
      return part.size;
    }
    if (part.path && part.path->visible()) {
      return Size{0, sizes_.elements_max(*part.path)};
    }
    return part.type == Type::scalar ? std::optional(Size{1, 1}) : std::nullopt;
  }
  Size size_of(const Estimate& part) { return known_size(part).value_or(Size{}); }

  // Of the items of a list or the values of a map, without their path.
  static Estimate element_of(const Estimate& part) {
    if (part.place.kind == Type::list || part.place.kind == Type::map) {
      Estimate item = typed(declared_element(part.place));
      item.size = part.element_size;
      return item;
    }
    return {.type = part.element, .place = part.element_place, .size = part.element_size};
  }

  Estimate list(const Expression& expression) {
    Estimate made{.cost = kListCost,
                  .type = Type::list,
                  .size = Size{expression.children.size(), expression.children.size()},
                  .element_size = Size{0, 0}};
    for (const ExpressionPtr& item : expression.children) {
      const Estimate part = estimate(*item);
      made.cost = plus(made.cost, part.cost);
      made.element = part.type;
      made.element_place = part.place;
      made.element_size = united(*made.element_size, size_of(part));
    }
    return made;
  }

  Estimate map(const Expression& expression) {
    const std::uint64_t entries = expression.children.size() / 2;
    return {.cost = plus(kMapCost, cost_of_all(expression)),
            .type = Type::map,
            .size = Size{entries, entries}};
  }

  Estimate select(const Expression& expression) {
    const Estimate base = child(expression, 0);
    const Declared field = base.place.kind == Type::map
                               ? declared_element(base.place)
                               : declared_field(base.place, expression.text);
    Estimate made = typed(field);
    made.cost = plus(base.cost, 1);
    // An optional value is not part of the object any more; its type is known.
    if (!expression.optional) {
      made.path = step_to_field(base, expression.text);
    }
    return made;
  }

  Estimate index(const Expression& expression) {
    const Estimate base = child(expression, 0);
    const std::uint64_t cost = plus(plus(base.cost, child(expression, 1).cost), 1);
    Estimate made = element_of(base);
    made.cost = cost;
    if (expression.optional) {
      made.size.reset();
    } else {
      made.path = step_to_item(base);
    }
    return made;
  }

  Estimate condition(const Expression& expression) {
    const std::uint64_t asked = child(expression, 0).cost;
    const Estimate yes = child(expression, 1);
    const Estimate no = child(expression, 2);
    Estimate made = yes;
    made.path.reset();
    made.cost = plus(asked, std::max(yes.cost, no.cost));
    made.size = united(size_of(yes), size_of(no));
    made.element_size = united_if_known(yes.element_size, no.element_size);
    return made;
  }

  Estimate binary(const Expression& expression) {
    const Estimate left = child(expression, 0);
    const Estimate right = child(expression, 1);
    const std::uint64_t both = plus(left.cost, right.cost);
    const bool scalars = left.type == Type::scalar && right.type == Type::scalar;
    switch (expression.operation) {
      case Operation::add:
        return sum(left, right, both);
      case Operation::in:
        return {.cost = plus(both, right.type == Type::list ? size_of(right).max : 1),
                .type = Type::scalar};
      case Operation::equal:
      case Operation::unequal:
        return {.cost = plus(both, compare_cost(left, right)), .type = Type::scalar};
      case Operation::less:
      case Operation::at_most:
      case Operation::more:
      case Operation::at_least:
        return {.cost = plus(both, scalars ? 1 : compare_cost(left, right)), .type = Type::scalar};
      default:
        return {.cost = plus(both, 1), .type = Type::scalar};
    }
  }

  std::uint64_t compare_cost(const Estimate& left, const Estimate& right) {
    return scaled(std::min(size_of(left).max, size_of(right).max), kPerCharacter);
  }

  Estimate sum(const Estimate& left, const Estimate& right, std::uint64_t cost) {
    const Type type = left.type == Type::dynamic ? right.type : left.type;
    if (type == Type::scalar || type == Type::dynamic) {
      return {.cost = plus(cost, 1), .type = type};
    }
    const Size a = size_of(left);
    const Size b = size_of(right);
    const Size size{plus(a.min, b.min), plus(a.max, b.max)};
    const std::uint64_t own = type == Type::list ? 1 : scaled(size.max, kPerCharacter);
    const Estimate items = element_of(left);
    return {.cost = plus(cost, own),
            .type = type,
            .size = size,
            .element = items.type,
            .element_place = items.place,
            .element_size = united_if_known(left.element_size, right.element_size)};
  }

  // The loops that macros stand for: what one turn costs beside the expressions in it.
  Estimate comprehension(const Expression& expression) {
    const Estimate range = child(expression, 0);
    if (expression.macro == Macro::opt_map) {
      return optional_map(expression, range);
    }
    const bool keys = range.type == Type::map || range.type == Type::object;
    Estimate item = keys ? typed(declared_key()) : element_of(range);
    item.path = keys ? step_to_key(range) : step_to_item(range);
    if (item.path->visible()) {
      item.size.reset();  // of a variable the path counts first
    }
    scope_.emplace_back(expression.text, item);
    std::vector<Estimate> parts;
    for (std::size_t i = 1; i < expression.children.size(); ++i) {
      parts.push_back(child(expression, i));
    }
    scope_.pop_back();
    std::uint64_t inside = 0;
    for (const Estimate& part : parts) {
      inside = plus(inside, part.cost);
    }
    const Size count = size_of(range);
    Estimate made{.cost = range.cost, .type = Type::scalar};
    auto loop = [&](std::uint64_t before, std::uint64_t turn, std::uint64_t after) {
      made.cost = plus(made.cost, plus(before + after, times(count.max, plus(inside, turn))));
    };
    switch (expression.macro) {
      case Macro::all:
        loop(0, 3, 1);
        return made;
      case Macro::exists:
        loop(0, 4, 1);
        return made;
      case Macro::exists_one:
        loop(0, 2, 2);
        return made;
      default:
        break;
    }
    const bool filters = expression.macro == Macro::filter;
    loop(kListCost, filters ? kListCost + 3 : kListCost + 2, 1);
    const Estimate& kept = filters ? item : parts.back();
    made.type = Type::list;
    made.size = count;
    made.element = kept.type;
    made.element_place = kept.place;
    made.element_size = united(Size{0, 0}, size_of(kept));
    return made;
  }

  // x.hasValue() ? optional.of(the expression about x.value()) : optional.none()
  Estimate optional_map(const Expression& expression, const Estimate& target) {
    Estimate value = target;
    value.path.reset();
    value.size.reset();
    value.element_size.reset();
    scope_.emplace_back(expression.text, value);
    Estimate made = child(expression, 1);
    scope_.pop_back();
    made.path.reset();
    made.size.reset();
    made.element_size.reset();
    made.cost = plus(plus(made.cost, times(target.cost, 2)), kListCost + 3);
    return made;
  }

  Estimate call(const Expression& expression) {
    std::vector<Estimate> parts;
    std::uint64_t cost = 0;
    for (const ExpressionPtr& part : expression.children) {
      parts.push_back(estimate(*part));
      cost = plus(cost, parts.back().cost);
    }
    Estimate made = parts.empty() ? Estimate{.cost = 1} : function(expression, parts);
    made.cost = plus(made.cost, cost);
    return made;
  }

  // The call alone. A method has its object first.
  Estimate function(const Expression& expression, const std::vector<Estimate>& parts) {
    const std::string_view name = expression.text;
    const Size first = size_of(parts[0]);
    const Size second = parts.size() > 1 ? size_of(parts[1]) : Size{};
    const std::uint64_t walk = scaled(first.max, kPerCharacter);
    auto is = [&](auto... names) { return ((name == names) || ...); };
    if (is("matches", "find", "findAll") && parts.size() > 1) {
      const std::uint64_t text = scaled(plus(first.max, 1), kPerCharacter);
      Estimate made{.cost = times(text, scaled(second.max, kPerPatternCharacter)),
                    .type = name == "matches" ? Type::scalar
                            : name == "find"  ? Type::text
                                              : Type::list};
      if (name != "matches") {
        made.size = Size{0, first.max};
        made.element = Type::text;
      }
      return made;
    }
    if (is("contains") && parts.size() > 1) {
      return {.cost = times(walk, scaled(second.max, kPerCharacter)), .type = Type::scalar};
    }
    if (is("startsWith", "endsWith") && parts.size() > 1) {
      return {.cost = scaled(second.max, kPerCharacter), .type = Type::scalar};
    }
    if (is("lowerAscii", "upperAscii", "substring", "trim")) {
      return {.cost = walk, .type = Type::text, .size = first};
    }
    if (is("replace") && parts.size() > 2) {
      return {.cost = scaled(first.max, 2 * kPerCharacter),
              .type = Type::text,
              .size = Size{0, replaced_max(first, second, size_of(parts[2]))}};
    }
    if (is("split")) {
      return {.cost = scaled(first.max, 2 * kPerCharacter),
              .type = Type::list,
              .size = Size{0, limit_of_split(expression).value_or(first.max)},
              .element = Type::text};
    }
    if (is("join")) {
      return joined(parts);
    }
    if (is("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")) {
      return over_items(name, parts[0]);
    }
    if (is("sets.contains", "sets.intersects", "sets.equivalent") && parts.size() > 1) {
      const std::uint64_t pairs = times(first.max, second.max);
      return {.cost = plus(name == "sets.equivalent" ? times(pairs, 2) : pairs, 1),
              .type = Type::scalar};
    }
    if (is("quantity", "isQuantity")) {
      return {.cost = walk, .type = name == "quantity" ? Type::dynamic : Type::scalar};
    }
    if (is("string") && parts[0].type == Type::bytes) {
      return {.cost = walk, .type = Type::text, .size = Size{first.min / 4, first.max}};
    }
    if (is("bytes") && parts[0].type == Type::text) {
      return {.cost = walk, .type = Type::bytes, .size = Size{first.min, times(first.max, 4)}};
    }
    if (is("format")) {
      return {.cost = walk, .type = Type::text};
    }
    return constant(name, parts);
  }

  // The number of parts, where it is written down.
  static std::optional<std::uint64_t> limit_of_split(const Expression& expression) {
    if (expression.children.size() < 3 || expression.children[2]->kind != Kind::integer ||
        expression.children[2]->integer < 0) {
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(expression.children[2]->integer);
  }

  // Calls that cost the same whatever they are about.
  Estimate constant(std::string_view name, const std::vector<Estimate>& parts) {
    if (name == "dyn") {
      Estimate same = parts[0];
      same.cost = 1;
      same.size = known_size(same);
      same.path.reset();
      return same;
    }
    constexpr auto kTexts = std::to_array<std::string_view>({"string", "charAt"});
    constexpr auto kSame = std::to_array<std::string_view>(
        {"value", "orValue", "or", "optional.of", "optional.ofNonZeroValue", "reverse"});
    constexpr auto kOther =
        std::to_array<std::string_view>({"type", "add", "sub", "optional.none"});
    auto among = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
    if (among(kSame)) {
      Estimate same = parts[0];
      same.cost = 1;
      same.size.reset();
      same.element_size.reset();
      same.path.reset();
      return same;
    }
    return {.cost = 1,
            .type = among(kTexts)   ? Type::text
                    : among(kOther) ? Type::dynamic
                                    : Type::scalar};
  }

  static std::uint64_t replaced_max(Size text, Size what, Size with) {
    if (what.min == 0) {
      return plus(times(plus(text.max, 1), with.max), text.max);
    }
    if (with.max <= what.min) {
      return text.max;
    }
    return times(scaled(text.max, 1.0 / static_cast<double>(what.min)), with.max);
  }

  Estimate joined(const std::vector<Estimate>& parts) {
    const Size count = size_of(parts[0]);
    std::uint64_t size = times(count.max, item_max(parts[0]));
    if (parts.size() > 1) {
      size = plus(size, times(size_of(parts[1]).max, count.max == 0 ? 0 : count.max - 1));
    }
    return {.cost = scaled(size, kPerCharacter), .type = Type::text, .size = Size{0, size}};
  }

  Estimate over_items(std::string_view name, const Estimate& target) {
    const std::uint64_t count = size_of(target).max;
    Estimate made{.type = name == "max" || name == "min" || name == "sum" ? element_of(target).type
                                                                          : Type::scalar};
    if (target.type == Type::text) {
      made.cost = scaled(count, kPerCharacter);
      return made;
    }
    const Type item = element_of(target).type;
    const bool texts = item == Type::text || item == Type::bytes;
    made.cost = times(count, plus(1, texts ? scaled(item_max(target), kPerCharacter) : 0));
    return made;
  }

  // Upstream looks at the schema alone here: of a list that the expression made nothing is known.
  std::uint64_t item_max(const Estimate& list) {
    const Declared item = list.path ? declared_element(*list.path) : Declared{};
    return item.visible() ? sizes_.elements_max(item) : kNoBound;
  }

  Declared self_;
  DeclaredSizes sizes_;
  std::vector<std::pair<std::string_view, Estimate>> scope_;
};

}  // namespace

std::uint64_t estimate_cost(const Expression& expression, const Declared& self) {
  return Estimator(self).estimate(expression).cost;
}

}  // namespace codeflare::apiserver::cel
