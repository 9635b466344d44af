#include "apiserver/cel/program.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kSelf =
    R"({"i":3,"d":2.5,"s":"héllo","list":[1,2,3],"names":["a","b","a"],"empty":[],"nothing":null,"flag":true,
  "map":{"x":1,"y":2},"items":[{"name":"a","v":1},{"name":"b"}],"with-dash":{"a.b":7},"namespace":"ns","q":"1.5Gi","t":"2026-03-01T10:20:30Z","dur":"90m"})";
constexpr std::string_view kOld = R"({"i":2,"list":[1,2]})";

std::string run(std::string_view text, std::uint64_t cost_max = 1'000'000) {
  auto program = CelProgram::compile(text);
  if (!program) {
    return "refused: " + program.error().message.substr(0, program.error().message.find('\n'));
  }
  auto self = json::parse(kSelf);
  auto old = json::parse(kOld);
  json::Arena arena;
  std::uint64_t cost = 0;
  auto value =
      program->evaluate(arena, {.self = self->root, .old_self = &old->root}, cost_max, cost);
  return value ? json::to_text(*value) : "error: " + value.error().message;
}

TEST(Cel, literals_and_operators) {
  EXPECT_EQ(run("1 + 2 * 3 - 4 / 2 % 2"), "7");
  EXPECT_EQ(run("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(run("0x1F + 1"), "32");
  EXPECT_EQ(run("1.5e2 / 2.0"), "75");
  EXPECT_EQ(run("7u + 1u"), "8");
  EXPECT_EQ(run(R"('a' + "b" + r'\n' + """c"d""" + '\u00fc\x41\101')"), R"("ab\\nc\"düAA")");
  EXPECT_EQ(run("[1] + [2, 3]"), "[1,2,3]");
  EXPECT_EQ(run("{'a': 1, 'b': [true, null]}.b"), "[true,null]");
  EXPECT_EQ(run("true ? 1 : 2"), "1");
  EXPECT_EQ(run("false ? 1 : true ? 2 : 3"), "2");
  EXPECT_EQ(run("!true || !(1 > 2) && 2 >= 2"), "true");
  EXPECT_EQ(run("1 == 1.0 && 1u == 1 && 'a' != 'b' && 1 != '1'"), "true");
  EXPECT_EQ(run("'a' < 'b' && 1 < 1.5 && -1 < 1u"), "true");
  EXPECT_EQ(run("5 / 2"), "2");
  EXPECT_EQ(run("-7 % 3"), "-1");
  EXPECT_EQ(run("1 // a comment\n + 1"), "2");
}

TEST(Cel, fields_and_indexes) {
  EXPECT_EQ(run("self.i"), "3");
  EXPECT_EQ(run("self.list[1] + self.map['y']"), "4");
  EXPECT_EQ(run("self.with__dash__dash['a.b'] == self.with__dash__dash.a__dot__b"), "true");
  EXPECT_EQ(run("self.__namespace__"), "\"ns\"");
  EXPECT_EQ(run("oldSelf.i < self.i"), "true");
  EXPECT_EQ(run("self.none"), "error: no such key: none");
  EXPECT_EQ(run("self.list[9]"), "error: index out of bounds: 9");
  EXPECT_EQ(run("self.i.x"), "error: no such overload");
  EXPECT_EQ(run("has(self.i) && !has(self.none) && has(self.map.x) && has(self.nothing)"), "true");
}

TEST(Cel, macros) {
  EXPECT_EQ(run("self.list.all(x, x > 0) && self.list.exists(x, x == 2) && "
                "self.names.exists_one(n, n == 'b')"),
            "true");
  EXPECT_EQ(run("self.list.map(x, x * 2)"), "[2,4,6]");
  EXPECT_EQ(run("self.list.map(x, x > 1, x * 2)"), "[4,6]");
  EXPECT_EQ(run("self.items.filter(i, has(i.v)).map(i, i.name)"), "[\"a\"]");
  EXPECT_EQ(run("self.map.all(k, self.map[k] > 0)"), "true");
  EXPECT_EQ(run("self.empty.all(x, false) && !self.empty.exists(x, true)"), "true");
  EXPECT_EQ(run("size(self.names.filter(i, size(self.names.filter(j, j == i)) > 1)) == 2"), "true");
  EXPECT_EQ(run("'x' in ['x'] && 'x' in self.map && !(4 in self.list)"), "true");
}

TEST(Cel, errors_are_absorbed_by_what_decides) {
  EXPECT_EQ(run("self.none == 1 || true"), "true");
  EXPECT_EQ(run("self.none == 1 && false"), "false");
  EXPECT_EQ(run("self.none == 1 || false"), "error: no such key: none");
  EXPECT_EQ(run("self.items.exists(i, i.v == 1)"), "true");
  EXPECT_EQ(run("self.items.all(i, i.v == 1)"), "error: no such key: v");
  EXPECT_EQ(run("1 / 0"), "error: division by zero");
  EXPECT_EQ(run("9223372036854775807 + 1"), "error: integer overflow");
  EXPECT_EQ(run("1 + 'a'"), "error: no such overload");
}

TEST(Cel, text_functions) {
  EXPECT_EQ(run("size(self.s) == 5 && self.s.size() == 5"), "true");
  EXPECT_EQ(run("self.s.startsWith('hé') && self.s.endsWith('lo') && self.s.contains('ll')"),
            "true");
  EXPECT_EQ(run("self.s.matches('^h.llo$') && matches('ab', 'b')"), "true");
  EXPECT_EQ(run("'abc 123 45'.find('[0-9]+') + 'abc'.find('[0-9]')"), "\"123\"");
  EXPECT_EQ(run("'abc 123 45'.findAll('[0-9]+')"), R"(["123","45"])");
  EXPECT_EQ(run("'abc 123 45'.findAll('[0-9]+', 1)"), R"(["123"])");
  EXPECT_EQ(run("'abc'.findAll('[0-9]+') + 'abc'.findAll('b', 0)"), "[]");
  EXPECT_EQ(run("'aéb'.findAll('b*')"), R"(["","","b"])");
  EXPECT_EQ(run("'ab ab'.findAll('^a|b$')"), R"(["a","b"])");
  EXPECT_EQ(run("'a,b,c'.split(',')"), R"(["a","b","c"])");
  EXPECT_EQ(run("'a,b,c'.split(',', 2)"), R"(["a","b,c"])");
  EXPECT_EQ(run("['a','b'].join('-') + ['a','b'].join()"), "\"a-bab\"");
  EXPECT_EQ(run("'AbC'.lowerAscii() + 'AbC'.upperAscii() + ' x '.trim()"), "\"abcABCx\"");
  EXPECT_EQ(run("'hello'.replace('l', 'L', 1) + 'hello'.substring(1, 3) + 'hello'.charAt(4)"),
            "\"heLloelo\"");
  EXPECT_EQ(run("self.s.indexOf('l') * 10 + self.s.lastIndexOf('l')"), "23");
  EXPECT_EQ(run("'%s is %d or %.2f'.format(['x', 7, 1.5])"), "\"x is 7 or 1.50\"");
  EXPECT_EQ(run("'abc'.substring(4)"), "error: index out of range: 4");
}

TEST(Cel, conversions_and_types) {
  EXPECT_EQ(run("int('42') + int(2.9) + int(3u)"), "47");
  EXPECT_EQ(run("double('1.5') + double(1)"), "2.5");
  EXPECT_EQ(run("string(12) + string(1.5) + string(true)"), "\"121.5true\"");
  EXPECT_EQ(run("type(1) == int && type('a') == string && type([]) == list"), "true");
  EXPECT_EQ(run("int('x')"), "error: type conversion error from 'string' to 'int'");
  EXPECT_EQ(run("bool('true') && dyn(true)"), "true");
}

TEST(Cel, quantities_durations_and_timestamps) {
  EXPECT_EQ(run("quantity(self.q).isGreaterThan(quantity('1Gi')) && "
                "quantity('500m').compareTo(quantity('0.5')) == 0"),
            "true");
  EXPECT_EQ(run("quantity('1').add(quantity('500m')).asApproximateFloat()"), "1.5");
  EXPECT_EQ(run("isQuantity('x')"), "false");
  EXPECT_EQ(run("duration('1h') < duration(self.dur) && duration('90m').getHours() == 1"), "true");
  EXPECT_EQ(run("timestamp(self.t) + duration('1h') > timestamp('2026-03-01T11:00:00Z')"), "true");
  EXPECT_EQ(run("timestamp(self.t).getFullYear() * 100 + timestamp(self.t).getMonth()"), "202602");
}

TEST(Cel, lists_sets_and_optional_values) {
  EXPECT_EQ(run("[3, 1, 2].max() + [3, 1].min() + [1, 2].sum()"), "7");
  EXPECT_EQ(run("[1, 2].isSorted() && !['b', 'a'].isSorted()"), "true");
  EXPECT_EQ(run("['a', 'b'].indexOf('b')"), "1");
  EXPECT_EQ(run("sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && "
                "!sets.intersects([1], [2])"),
            "true");
  EXPECT_EQ(run("self.?none.orValue(5)"), "5");
  EXPECT_EQ(run("self.?map.?x.value() + self.map[?'zz'].orValue(1)"), "2");
  EXPECT_EQ(run("optional.of(1).optMap(v, v + 1).orValue(0)"), "2");
  EXPECT_EQ(run("optional.none().hasValue()"), "false");
}

TEST(Cel, what_is_no_expression_is_refused_with_its_place) {
  EXPECT_EQ(run("self."), "refused: ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>'");
  EXPECT_EQ(run("foo == 1"),
            "refused: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')");
  EXPECT_EQ(run("self.i == bar(1)"),
            "refused: ERROR: <input>:1:11: undeclared reference to 'bar' (in container '')");
  EXPECT_EQ(run("self.list.all(x, y > 1)"),
            "refused: ERROR: <input>:1:18: undeclared reference to 'y' (in container '')");
  EXPECT_EQ(run("'abc"), "refused: ERROR: <input>:1:5: Syntax error: unterminated text");
  EXPECT_EQ(run("self.s.matches('(')").substr(0, 63),
            "refused: ERROR: <input>:1:7: invalid matches argument: error pa");
  EXPECT_EQ(run("1 = 2"),
            "refused: ERROR: <input>:1:3: Syntax error: token recognition error at: '='");
  EXPECT_EQ(run("size()"), "refused: ERROR: <input>:1:1: found no matching overload for 'size'");
  auto error = CelProgram::compile("1 +\n  foo").error().message;
  EXPECT_EQ(
      error,
      "ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')\n |   foo\n | ..^");
}

TEST(Cel, deep_nesting_is_refused_and_long_chains_are_not) {
  EXPECT_EQ(run(std::string(5000, '(') + "1" + std::string(5000, ')')).substr(0, 7), "refused");
  EXPECT_EQ(run(std::string(5000, '!') + "true").substr(0, 7), "refused");
  std::string chain = "true";
  for (int i = 0; i < 5000; ++i) {
    chain += " && true";
  }
  EXPECT_EQ(run(chain), "true");
}

TEST(Cel, cost_is_limited) {
  EXPECT_EQ(run("self.list.all(a, self.list.all(b, self.list.all(c, a + b + c > 0)))", 50),
            "error: operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(run("self.list.all(a, self.list.all(b, self.list.all(c, a + b + c > 0)))"), "true");
  // Not even a decisive operand hides it.
  EXPECT_EQ(run("[1, 2, 3, 4, 5, 6, 7, 8].exists(x, x == 9) || true", 20),
            "error: operation cancelled: actual cost limit exceeded");
}

}  // namespace
}  // namespace codeflare::apiserver
