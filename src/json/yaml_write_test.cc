#include "json/internal/natural_order.h"
#include "json/parse.h"
#include "json/testing/random_value.h"
#include "json/write.h"
#include "json/yaml.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::json {
namespace {

std::string yaml_of(std::string_view json) {
  return to_yaml(parse(json)->root);
}

TEST(YamlWrite, prints_as_kubectl_does) {
  EXPECT_EQ(yaml_of(R"({"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"name":"a",
              "ports":[{"port":80}],"args":[]},{"name":"b"}],"nodeSelector":{}},"status":null})"),
            R"(apiVersion: v1
kind: Pod
spec:
  containers:
  - args: []
    name: a
    ports:
    - port: 80
  - name: b
  nodeSelector: {}
status: null
)");
  EXPECT_EQ(yaml_of("[[1,2],[]]"), "- - 1\n  - 2\n- []\n");
  EXPECT_EQ(yaml_of(R"("text")"), "text\n");
  EXPECT_EQ(yaml_of("{}"), "{}\n");
}

TEST(YamlWrite, keeps_the_order_of_members_when_asked) {
  auto document = parse(R"({"b":1,"a":{"d":2,"c":3}})");
  YamlWriteOptions options;
  options.sorted = false;
  EXPECT_EQ(to_yaml(document->root, options), "b: 1\na:\n  d: 2\n  c: 3\n");
}

TEST(YamlWrite, quotes_what_would_read_back_as_something_else) {
  EXPECT_EQ(yaml_of(R"(["yes","1","0x1","null","~","","2001-01-01","1:30",".inf","1e3","1_0"])"),
            "- \"yes\"\n- \"1\"\n- \"0x1\"\n- \"null\"\n- \"~\"\n- \"\"\n- \"2001-01-01\"\n"
            "- \"1:30\"\n- \".inf\"\n- \"1e3\"\n- \"1_0\"\n");
  EXPECT_EQ(yaml_of(R"(["a: b","- a","#c","{x","*a","a #b"," a","a ","'q'","@x"])"),
            "- 'a: b'\n- '- a'\n- '#c'\n- '{x'\n- '*a'\n- 'a #b'\n- ' a'\n- 'a '\n- '''q'''\n"
            "- '@x'\n");
  EXPECT_EQ(yaml_of(R"(["a:b","a#b","x,y","1.2.3","-a","100m"])"),
            "- a:b\n- a#b\n- x,y\n- 1.2.3\n- -a\n- 100m\n");
  EXPECT_EQ(yaml_of(R"({"1":true,"true":1.50,"n":"\u0007\u007f"})"),
            "\"1\": true\n\"n\": \"\\a\\x7F\"\n\"true\": 1.5\n");
}

TEST(YamlWrite, several_lines_become_a_literal_block) {
  EXPECT_EQ(yaml_of(R"({"a":"x\ny\n","b":"x\ny","c":"x\n\n","d":" x\ny"})"),
            "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2-\n   x\n  y\n");
  // Not all text can stand in a block.
  EXPECT_EQ(yaml_of(R"({"a":"x \ny","b":"x\r\ny","c":"x\ny\u0001"})"),
            "a: \"x \\ny\"\nb: \"x\\r\\ny\"\nc: \"x\\ny\\x01\"\n");
}

TEST(YamlWrite, folds_long_plain_text_at_eighty_columns) {
  std::string words;
  for (int i = 0; i < 20; ++i) {
    words += "word" + std::to_string(i) + " ";
  }
  words += "end";
  std::string yaml = yaml_of("{\"message\":\"" + words + "\"}");
  EXPECT_EQ(yaml,
            "message: word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11\n"
            "  word12 word13 word14 word15 word16 word17 word18 word19 end\n");
}

TEST(YamlWrite, numbers_keep_their_value) {
  EXPECT_EQ(yaml_of("[1, 1.0, 1e3, 1000000.0, 0.00001, -0.5, 12345678901234567890, 1e400]"),
            "- 1\n- 1\n- 1000\n- 1e+06\n- 1e-05\n- -0.5\n- 12345678901234567890\n- 1e400\n");
}

TEST(YamlWrite, replaces_bytes_that_are_no_utf8) {
  EXPECT_EQ(to_yaml(Value::string_view_of("a\xff")), "a\xef\xbf\xbd\n");
}

TEST(YamlWrite, sorts_keys_by_letter_and_number) {
  auto less = internal::naturally_less;
  EXPECT_TRUE(less("a", "b"));
  EXPECT_FALSE(less("b", "a"));
  EXPECT_TRUE(less("a", "aa"));
  EXPECT_TRUE(less("a2", "a10"));
  EXPECT_TRUE(less("a9", "a10"));
  EXPECT_TRUE(less("a1", "a01"));
  EXPECT_TRUE(less("a11", "a100"));
  EXPECT_TRUE(less("a-b", "ab"));
  EXPECT_TRUE(less("B", "a"));
  EXPECT_TRUE(less("1", "a"));
  EXPECT_TRUE(less("app.kubernetes.io/name", "appVersion"));
  EXPECT_FALSE(less("a", "a"));
}

TEST(YamlWrite, sorts_many_keys) {
  std::string json = "{";
  for (int i = 999; i >= 0; --i) {
    json += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + (i > 0 ? "," : "}");
  }
  std::string wanted;
  for (int i = 0; i < 1'000; ++i) {
    wanted += "k" + std::to_string(i) + ": " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(yaml_of(json), wanted);
}

TEST(YamlWrite, random_values_read_back_equal) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    testing::RandomValues random(seed);
    Arena arena;
    Value value = random.value(arena);
    std::string yaml = to_yaml(value);
    YamlOptions options;
    options.keep_empty_documents = true;
    auto back = parse_yaml(yaml, options);
    ASSERT_TRUE(back.has_value()) << "seed " << seed << ": " << back.error().message << "\n"
                                  << to_text(value) << "\n"
                                  << yaml;
    ASSERT_EQ(back->size(), 1u) << "seed " << seed;
    ASSERT_TRUE(equal(back->front().root, value)) << "seed " << seed << "\n"
                                                  << to_text(value) << "\n"
                                                  << yaml;
  }
}

}  // namespace
}  // namespace codeflare::json
