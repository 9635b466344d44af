// The numbers are those of upstream's own test of its estimate (TestCelEstimatedCostStability):
// they decide which definitions are accepted.

#include "apiserver/cel/internal/cost.h"

#include "apiserver/cel/program.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();

struct Schema {
  explicit Schema(std::string_view properties)
      : document(json::parse(R"({"type":"object","properties":{)" + std::string(properties) + "}}")
                     .value()) {}
  std::uint64_t cost(std::string_view rule) const {
    auto program = CelProgram::compile(rule);
    EXPECT_TRUE(program.has_value()) << rule;
    return program ? cel::estimate_cost(program->root(), cel::declare(document.root)) : 0;
  }
  json::Document document;
};

TEST(CelCost, of_numbers_is_that_of_their_paths) {
  const Schema of(R"("a":{"type":"integer"},"b":{"type":"number"},"c":{"type":"integer"})");
  EXPECT_EQ(of.cost("self.a == self.c"), 4u);
  EXPECT_EQ(of.cost("self.a == self.c && self.a == 7 && self.c == 7"), 8u);
  EXPECT_EQ(of.cost("type(self.a) == int"), 4u);
  EXPECT_EQ(of.cost("self.a + 1 == 2147483647 + 1"), 5u);
  EXPECT_EQ(of.cost("double(self.a) < self.b"), 6u);
  EXPECT_EQ(of.cost("double(5) < 10.0"), 2u);
  EXPECT_EQ(of.cost("self.b == 1.0"), 2u);
}

TEST(CelCost, of_text_grows_with_its_bound) {
  const Schema of(R"("a":{"type":"string"},"e":{"type":"string","enum":["Pending","Available"]},
    "short":{"type":"string","maxLength":10})");
  EXPECT_EQ(of.cost("self.a.startsWith('Rook')"), 3u);
  EXPECT_EQ(of.cost("!self.a.startsWith('knight')"), 4u);
  EXPECT_EQ(of.cost("self.a.matches('^[^0-9]*$')"), 943721u);
  EXPECT_EQ(of.cost("!self.a.matches('^[0-9]*$')"), 629149u);
  EXPECT_EQ(of.cost("size(self.a) == 12"), 4u);
  EXPECT_EQ(of.cost("self.a.charAt(3) == 'k'"), 4u);
  EXPECT_EQ(of.cost("self.a.indexOf('o') == 1"), 314576u);
  EXPECT_EQ(of.cost("self.a.replace(' ', 'x') == 'Rookxtakesx'"), 629150u);
  EXPECT_EQ(of.cost("self.a.split(' ') == ['Rook', 'takes', 'x']"), 629159u);
  EXPECT_EQ(of.cost("self.a.substring(4, 10).trim() == 'takes'"), 629149u);
  EXPECT_EQ(of.cost("self.a.lowerAscii() == self.a.lowerAscii()"), 943723u);
  EXPECT_EQ(of.cost("self.a == self.a && self.a == 'Rook takes x' && self.a == 'Rook takes x'"),
            314585u);
  EXPECT_EQ(of.cost("isQuantity(self.a)"), 314575u);
  EXPECT_EQ(of.cost("quantity(self.a).isLessThan(quantity(self.a))"), 629151u);
  // Two parts; a part has no size beyond that of self, an object.
  EXPECT_EQ(of.cost("self.a.split('/', 2).all(p, p != '')"), 629157u);
  EXPECT_EQ(of.cost("self.e == 'Pending'"), 3u);
  EXPECT_EQ(of.cost("self.e in ['Pending', 'Available']"), 14u);
  // 40 bytes, and a pattern of 4 characters.
  EXPECT_EQ(of.cost("self.short.matches('^a*$')"), 7u);
}

TEST(CelCost, of_conversions_is_upstreams) {
  const Schema of(R"("i":{"type":"integer"},"s":{"type":"string"},
    "y":{"type":"string","format":"byte"},"d":{"type":"string","format":"duration"},
    "t":{"type":"string","format":"date-time"})");
  EXPECT_EQ(of.cost("bytes(self.s) == self.y"), 629150u);
  EXPECT_EQ(of.cost("string(self.i) == self.s"), 314578u);
  EXPECT_EQ(of.cost("string(self.y) == self.s"), 629150u);
  EXPECT_EQ(of.cost("duration(self.s) == self.d"), 6u);
  EXPECT_EQ(of.cost("timestamp(self.s) == self.t"), 6u);
  EXPECT_EQ(of.cost("self.d == duration('1h2m') + duration('3s4ms')"), 6u);
  EXPECT_EQ(of.cost("self.t.getDate() == 18"), 4u);
}

TEST(CelCost, of_loops_is_their_body_for_each_item) {
  const Schema of(R"("a":{"type":"array","items":{"type":"integer"}},
    "b":{"type":"array","items":{"type":"integer"}},
    "few":{"type":"array","maxItems":10,"items":{"type":"object","properties":{
      "k":{"type":"string"},"v":{"type":"string"}}}},
    "m":{"type":"object","maxProperties":10,"additionalProperties":{"type":"string"}})");
  EXPECT_EQ(of.cost("1 in self.a"), 1572865u);
  EXPECT_EQ(of.cost("self.b[0] in self.a"), 1572868u);
  EXPECT_EQ(of.cost("self.a + self.b == [1, 2, 3, 1, 2, 3]"), 16u);
  EXPECT_EQ(of.cost("self.a + [4, 5] == [1, 2, 3, 4, 5]"), 24u);
  EXPECT_EQ(of.cost("has(self.a) && has(self.b)"), 2u);
  EXPECT_EQ(of.cost("self.a.all(k, size(self.a) > 0)"), 11010044u);
  EXPECT_EQ(of.cost("self.a.exists_one(k, self.a == [2])"), 23592949u);
  EXPECT_EQ(of.cost("!self.a.exists_one(k, size(self.a) > 0)"), 9437183u);
  EXPECT_EQ(of.cost("size(self.a.filter(k, size(self.a) > 1)) == 1"), 26738686u);
  EXPECT_EQ(of.cost("self.few.exists(e, e.k == '2' && e.v == 'f')"), 103u);
  EXPECT_EQ(of.cost("self.m.map(k, k).map(k, k).size() == 1"), 286u);
  EXPECT_EQ(of.cost("self.few.map(e, e).map(e, e).size() == 1"), 286u);
}

TEST(CelCost, of_loops_over_maps_and_objects_is_upstreams) {
  const Schema of(R"("m":{"type":"object","additionalProperties":{"type":"string"}},
    "i":{"type":"object","additionalProperties":{"type":"integer"}},
    "n":{"type":"array","items":{"type":"integer"}},
    "l":{"type":"array","items":{"type":"object","properties":{
      "k":{"type":"string"},"v":{"type":"string"},"v2":{"type":"string"}}}})");
  EXPECT_EQ(of.cost("self.m == self.m"), 39326u);
  EXPECT_EQ(of.cost("'k1' in self.m"), 3u);
  EXPECT_EQ(of.cost("self.m == {'k1': 'a', 'k2': 'b'}"), 33u);
  EXPECT_EQ(of.cost("self.m.all(k, size(self.m) > 0)"), 2752508u);
  EXPECT_EQ(of.cost("self.i.all(k, self.i[k] > 0)"), 3595115u);
  EXPECT_EQ(of.cost("self.i.exists_one(k, self.i[k] == 2)"), 2696338u);
  EXPECT_EQ(of.cost("self.l.all(m, !has(m.v2) || m.v2 == 'z')"), 8388603u);
  EXPECT_EQ(of.cost("self.l.exists(m, m.k == 'a1' && m.v == 'b1')"), 10485753u);
  EXPECT_EQ(of.cost("self.l.exists_one(m, m.k == 'a3')"), 5242879u);
  EXPECT_EQ(of.cost("size(self.l.filter(m, m.k == 'a1')) == 1"), 16777215u);
  EXPECT_EQ(of.cost("self.l.map(m, m.v).exists(v, v == 'b1')"), 19922939u);
  EXPECT_EQ(of.cost("self.l.map(m, has(m.v2) && m.v2 == 'z', m.v2).size() == 1"), 18874365u);
  EXPECT_EQ(of.cost("self.l.filter(m, has(m.v2) && m.v2 == 'z').map(m, m.v2).size() == 1"),
            32505851u);
  EXPECT_EQ(of.cost("self.n.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)"), 53477367u);
}

TEST(CelCost, of_nested_lists_is_upstreams) {
  const Schema of(R"("objs":{"type":"array","items":{"type":"array","items":{"type":"object",
      "properties":{"k":{"type":"string"}}}}},
    "ll":{"type":"array","maxItems":10,"items":{"type":"array","maxItems":10,
      "items":{"type":"string"}}},
    "ml":{"type":"object","maxProperties":10,"additionalProperties":{"type":"array","maxItems":10,
      "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string"}}}}})");
  EXPECT_EQ(of.cost("self.objs[0] == self.objs[1]"), 104864u);
  EXPECT_EQ(of.cost("self.objs[0] + self.objs[2] == self.objs[2]"), 104868u);
  EXPECT_EQ(of.cost("self.objs[0] == [self.objs[0][0], self.objs[0][1]]"), 22u);
  EXPECT_EQ(of.cost("size(self.objs[0] + [self.objs[3][0]]) == 3"), 20u);
  EXPECT_EQ(of.cost("self.objs[0].all(k, size(self.objs[0]) > 0)"), 8388604u);
  EXPECT_EQ(of.cost("self.ml['o'].exists(e, e.k == '1' && e.v == 'd')"), 104u);
  EXPECT_EQ(of.cost("self.ml.map(k, self.ml[k].map(l, l)).size() == 1"), 1585u);
  EXPECT_EQ(of.cost("self.ll.map(e, e.map(e, e)).size() == 1"), 1555u);
}

TEST(CelCost, of_int_or_string_is_upstreams) {
  const Schema of(R"("min":{"x-kubernetes-int-or-string":true},"current":{"type":"integer"},
    "available":{"type":"integer"})");
  EXPECT_EQ(of.cost("type(self.min) == int ? self.min == 1 : self.min == '25%'"), 7u);
  EXPECT_EQ(of.cost("self.min == 1 || self.min == '25%'"), 6u);
  EXPECT_EQ(of.cost("self.min != ['anything']"), 13u);
  EXPECT_EQ(of.cost(R"(type(self.min) == string && self.min.matches(r'(\d+(\.\d+)?%)'))"),
            1258298u);
  EXPECT_EQ(of.cost("type(self.min) == int ? self.current <= self.min : double(self.current) / "
                    "double(self.available) >= double(self.min.replace('%', '')) / 100.0"),
            629162u);
}

TEST(CelCost, of_optional_values_is_upstreams) {
  const Schema of(R"("a":{"type":"string"},"l":{"type":"array","items":{"type":"string"}},
    "obj":{"type":"object","properties":{"field":{"type":"string"}}})");
  EXPECT_EQ(of.cost("optional.of('a') != optional.of('b')"), 1844674407370955266u);
  EXPECT_EQ(of.cost("optional.of('a').or(optional.of('a')).hasValue()"), 4u);
  EXPECT_EQ(of.cost("optional.of('a').optMap(v, v == 'value').hasValue()"), 18u);
  EXPECT_EQ(of.cost("self.l[?0].optMap(v, v == 'a').hasValue()"), 22u);
  EXPECT_EQ(of.cost("self.obj.?field == optional.of('a')"), 1844674407370955268u);
  EXPECT_EQ(of.cost("self.obj.?field.orValue('v') == 'a'"), 5u);
  // The field of a value that no path leads to counts as self: an object, which has no size.
  EXPECT_EQ(of.cost("!oldSelf.hasValue() || self.a == oldSelf.value().a"), 8u);
}

TEST(CelCost, without_a_bound_is_the_largest_number) {
  const Schema of(R"("a":{"type":"array","maxItems":20,"items":{"type":"string"}})");
  EXPECT_EQ(of.cost("self.a.map(x, string(size(x))).isSorted()"), kNoBound);
}

TEST(CelCost, of_metadata_is_that_of_text) {
  const Schema of(R"("a":{"type":"string"})");
  auto program = CelProgram::compile("self.metadata.name.matches('^[^0-9]*$')");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(cel::estimate_cost(program->root(), cel::declare(of.document.root, true)), 943722u);
}

TEST(CelCost, values_fit_into_a_request_as_often_as_their_shortest_text_does) {
  const Schema of(R"("a":{"type":"string"},"b":{"type":"integer"})");
  EXPECT_EQ(cel::occurrences_max(cel::declare(of.document.root)), 3145728u / 3);
  auto required = json::parse(
      R"({"type":"object","required":["name","given"],"properties":{"name":{"type":"string"},
          "given":{"type":"integer","default":1}}})");
  // {"name":"",}
  EXPECT_EQ(cel::occurrences_max(cel::declare(required->root)), 3145728u / 13);
}

}  // namespace
}  // namespace codeflare::apiserver
