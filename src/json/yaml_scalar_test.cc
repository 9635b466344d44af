#include "json/internal/yaml_scalar.h"

#include "json/write.h"
#include "json/yaml.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace codeflare::json {
namespace {

// The expectations of this file are what sigs.k8s.io/yaml v1.6.0 (over go.yaml.in/yaml/v2 v2.4.2),
// the reader inside kubectl, makes of the same text.

using Expectations = std::vector<std::pair<std::string_view, std::string_view>>;

std::string read(const std::string& yaml) {
  auto documents = parse_yaml(yaml);
  if (!documents || documents->size() != 1) {
    return "error";
  }
  return to_text(documents->front().root);
}

TEST(YamlScalar, words_and_numbers_mean_what_they_mean_to_kubectl) {
  const Expectations expectations = {
      {"y", "true"},
      {"Y", "true"},
      {"yes", "true"},
      {"Yes", "true"},
      {"YES", "true"},
      {"n", "false"},
      {"N", "false"},
      {"no", "false"},
      {"No", "false"},
      {"NO", "false"},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"false", "false"},
      {"False", "false"},
      {"FALSE", "false"},
      {"on", "true"},
      {"On", "true"},
      {"ON", "true"},
      {"off", "false"},
      {"Off", "false"},
      {"OFF", "false"},
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {".nan", "error"},
      {".NaN", "error"},
      {".NAN", "error"},
      {".inf", "error"},
      {".Inf", "error"},
      {".INF", "error"},
      {"+.inf", "error"},
      {"-.inf", "error"},
      {"-.Inf", "error"},
      {"-.INF", "error"},
      {"+.INF", "error"},
      {"0", "0"},
      {"00", "0"},
      {"0.0", "0"},
      {"-0", "0"},
      {"+0", "0"},
      {"-0.0", "-0"},
      {"+0.0", "0"},
      {"08", "8"},
      {"09", "9"},
      {"010", "8"},
      {"0777", "511"},
      {"+0777", "511"},
      {"-0777", "-511"},
      {"0o17", "15"},
      {"0O17", "15"},
      {"-0o17", "-15"},
      {"+0o17", "15"},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"-0x10", "-16"},
      {"+0x10", "16"},
      {"0b1", "1"},
      {"0B1", "1"},
      {"0b101", "5"},
      {"-0b101", "-5"},
      {"+0b101", "5"},
      {"0b-1", "-1"},
      {"0b+1", "1"},
      {"0b_1", "1"},
      {"1_000", "1000"},
      {"1__0", "10"},
      {"1_", "1"},
      {"-_1", "-1"},
      {"+_1", "1"},
      {"1_000.5", "1000.5"},
      {"0_8", "8"},
      {"0x_ff", "255"},
      {"1e3", "1000"},
      {"1E3", "1000"},
      {"1e+3", "1000"},
      {"1e-3", "0.001"},
      {".5", "0.5"},
      {".5e3", "500"},
      {"-.5", "-0.5"},
      {"+.5", "0.5"},
      {".5_0", "0.5"},
      {"5.", "5"},
      {"5.e3", "5000"},
      {"1.5", "1.5"},
      {"1.50", "1.5"},
      {"1.0", "1"},
      {"100.0", "100"},
      {"1e-400", "0"},
      {"-1e-400", "-0"},
      {"1e21", "1e+21"},
      {"1e20", "100000000000000000000"},
      {"1e22", "1e+22"},
      {"123456789012345678901", "123456789012345680000"},
      {"1e-6", "0.000001"},
      {"1e-7", "1e-7"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1e-7"},
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "9223372036854775808"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-9223372036854775809", "-9223372036854776000"},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "18446744073709552000"},
      {"+18446744073709551615", "18446744073709552000"},
      {"+9223372036854775808", "9223372036854776000"},
      {"0xffffffffffffffff", "18446744073709551615"},
      {"0b1111111111111111111111111111111111111111111111111111111111111111",
       "18446744073709551615"},
      {"01777777777777777777777", "18446744073709551615"},
      {"3.14159265358979", "3.14159265358979"},
      {"1e5", "100000"},
      {"1e6", "1000000"},
      {"1000000", "1000000"},
      {"1.5e10", "15000000000"},
      {"123456.7", "123456.7"},
      {"1234567.8", "1234567.8"},
      {"0.0001", "0.0001"},
      {"0.00001", "0.00001"},
      {"4.9e-324", "5e-324"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"1e308", "1e+308"},
      {"0.1e1", "1"},
      {"00.5", "0.5"},
      {"0o0", "0"},
      {"0x0", "0"},
      {"-00", "0"},
      {"-01", "-1"},
      {"0xa_b", "171"},
      {"12e03", "12000"},
      {"1e0000000000000000000000001", "10"},
      {"0e999999999999999999999", "0"},
      {"0.0e400", "0"},
      {"00000000000000000000001", "1"},
      {"1_0e1_0", "100000000000"},
      {".5e1_0", "5000000000"},
      {"0b1_1", "3"},
      {"-1_0", "-10"},
      {"0o1_7", "15"}};
  for (auto [text, json] : expectations) {
    std::string wanted = json == "error" ? "error" : "[" + std::string(json) + "]";
    EXPECT_EQ(read("- " + std::string(text)), wanted) << text;
    EXPECT_EQ(read("[" + std::string(text) + "]"), wanted) << text;
  }
}

TEST(YamlScalar, everything_else_is_a_string) {
  for (std::string_view text :
       {"yEs",
        "nO",
        "tRUE",
        "oN",
        "oFF",
        "nULL",
        ".Nan",
        ".iNF",
        "+",
        ".",
        "..",
        "--",
        "++",
        "0o8",
        "0o",
        "0x",
        "0xG",
        "0b",
        "0b2",
        "-0b-1",
        "_1",
        "1e",
        "1e+",
        "e1",
        "1e400",
        "-1e400",
        ".1e400",
        "0x10000000000000000",
        "-0b1111111111111111111111111111111111111111111111111111111111111111",
        "2001-01-01",
        "2001-1-1",
        "2001-13-01",
        "2001-02-29",
        "2000-02-29",
        "2001-12-14t21:59:43.10-05:00",
        "2001-12-14T21:59:43Z",
        "2001-12-14T21:59:43",
        "2001-12-14T1:2:3Z",
        "2001-12-14T1:2:3,5Z",
        "1:30",
        "190:20:30",
        "190:20:30.15",
        "1:60",
        "12:30:45",
        "<<",
        "1.7976931348623159e308",
        "abc",
        "a:b",
        "a#b",
        "-a",
        "-1a",
        "1a",
        "0a",
        "0x1p-2",
        "Infinity",
        "NaN",
        "inf",
        "nan",
        "1,000",
        "1.2.3",
        "1e3.5",
        "--1",
        "+-1",
        "1-1",
        "1+1",
        "00x1",
        "-0x",
        "._5",
        ".5_"}) {
    std::string wanted = "[";
    append_quoted(wanted, text);
    EXPECT_EQ(read("- " + std::string(text)), wanted + "]") << text;
  }
}

TEST(YamlScalar, quotes_make_a_string_of_anything) {
  for (std::string_view text : {"yes", "1", "0x10", "~", "", "null", ".inf", "2001-01-01", "<<"}) {
    std::string wanted = "[\"" + std::string(text) + "\"]";
    EXPECT_EQ(read("- '" + std::string(text) + "'"), wanted);
    EXPECT_EQ(read("- \"" + std::string(text) + "\""), wanted);
  }
}

TEST(YamlScalar, keys_that_are_no_strings_become_strings) {
  const Expectations expectations = {{"y", "true"},
                                     {"Y", "true"},
                                     {"yes", "true"},
                                     {"Yes", "true"},
                                     {"YES", "true"},
                                     {"n", "false"},
                                     {"N", "false"},
                                     {"no", "false"},
                                     {"No", "false"},
                                     {"NO", "false"},
                                     {"True", "true"},
                                     {"TRUE", "true"},
                                     {"False", "false"},
                                     {"FALSE", "false"},
                                     {"on", "true"},
                                     {"On", "true"},
                                     {"ON", "true"},
                                     {"off", "false"},
                                     {"Off", "false"},
                                     {"OFF", "false"},
                                     {"~", "error"},
                                     {"null", "error"},
                                     {"Null", "error"},
                                     {"NULL", "error"},
                                     {".NaN", ".nan"},
                                     {".NAN", ".nan"},
                                     {".Inf", ".inf"},
                                     {".INF", ".inf"},
                                     {"+.inf", ".inf"},
                                     {"-.Inf", "-.inf"},
                                     {"-.INF", "-.inf"},
                                     {"+.INF", ".inf"},
                                     {"00", "0"},
                                     {"0.0", "0"},
                                     {"-0", "0"},
                                     {"+0", "0"},
                                     {"-0.0", "-0"},
                                     {"+0.0", "0"},
                                     {"08", "8"},
                                     {"09", "9"},
                                     {"010", "8"},
                                     {"0777", "511"},
                                     {"+0777", "511"},
                                     {"-0777", "-511"},
                                     {"0o17", "15"},
                                     {"0O17", "15"},
                                     {"-0o17", "-15"},
                                     {"+0o17", "15"},
                                     {"0x1F", "31"},
                                     {"0X1f", "31"},
                                     {"-0x10", "-16"},
                                     {"+0x10", "16"},
                                     {"0b1", "1"},
                                     {"0B1", "1"},
                                     {"0b101", "5"},
                                     {"-0b101", "-5"},
                                     {"+0b101", "5"},
                                     {"0b-1", "-1"},
                                     {"0b+1", "1"},
                                     {"0b_1", "1"},
                                     {"1_000", "1000"},
                                     {"1__0", "10"},
                                     {"1_", "1"},
                                     {"-_1", "-1"},
                                     {"+_1", "1"},
                                     {"1_000.5", "1000.5"},
                                     {"0_8", "8"},
                                     {"0x_ff", "255"},
                                     {"1e3", "1000"},
                                     {"1E3", "1000"},
                                     {"1e+3", "1000"},
                                     {"1e-3", "0.001"},
                                     {".5", "0.5"},
                                     {".5e3", "500"},
                                     {"-.5", "-0.5"},
                                     {"+.5", "0.5"},
                                     {".5_0", "0.5"},
                                     {"5.", "5"},
                                     {"5.e3", "5000"},
                                     {"1.50", "1.5"},
                                     {"1.0", "1"},
                                     {"100.0", "100"},
                                     {"1e-400", "0"},
                                     {"-1e-400", "-0"},
                                     {"1e21", "1e+21"},
                                     {"1e20", "1e+20"},
                                     {"1e22", "1e+22"},
                                     {"123456789012345678901", "1.2345679e+20"},
                                     {"1e-6", "1e-06"},
                                     {"1e-7", "1e-07"},
                                     {"0.000001", "1e-06"},
                                     {"0.0000001", "1e-07"},
                                     {"-9223372036854775809", "-9.223372e+18"},
                                     {"18446744073709551616", "1.8446744e+19"},
                                     {"+18446744073709551615", "1.8446744e+19"},
                                     {"+9223372036854775808", "9.223372e+18"},
                                     {"3.14159265358979", "3.1415927"},
                                     {"1e5", "100000"},
                                     {"1e6", "1e+06"},
                                     {"1.5e10", "1.5e+10"},
                                     {"1234567.8", "1.2345678e+06"},
                                     {"0.00001", "1e-05"},
                                     {"4.9e-324", "0"},
                                     {"1.7976931348623157e308", ".inf"},
                                     {"1e308", ".inf"},
                                     {"0.1e1", "1"},
                                     {"00.5", "0.5"},
                                     {"0o0", "0"},
                                     {"0x0", "0"},
                                     {"-00", "0"},
                                     {"-01", "-1"},
                                     {"0xa_b", "171"},
                                     {"12e03", "12000"},
                                     {"1e0000000000000000000000001", "10"},
                                     {"0e999999999999999999999", "0"},
                                     {"0.0e400", "0"},
                                     {"00000000000000000000001", "1"},
                                     {"1_0e1_0", "1e+11"},
                                     {".5e1_0", "5e+09"},
                                     {"0b1_1", "3"},
                                     {"-1_0", "-10"},
                                     {"0o1_7", "15"}};
  for (auto [text, key] : expectations) {
    std::string wanted = key == "error" ? "error" : "{\"" + std::string(key) + "\":\"v\"}";
    EXPECT_EQ(read("? " + std::string(text) + "\n: v"), wanted) << text;
  }
}

TEST(YamlScalar, tags_decide_where_they_are_given) {
  EXPECT_EQ(read("- !!str 12"), "[\"12\"]");
  EXPECT_EQ(read("- !!str yes"), "[\"yes\"]");
  EXPECT_EQ(read("- !!str"), "[\"\"]");
  EXPECT_EQ(read("- !!int '0x10'"), "[16]");
  EXPECT_EQ(read("- !!float 3"), "[3]");
  EXPECT_EQ(read("- !!float '1e3'"), "[1000]");
  EXPECT_EQ(read("- !!bool 'on'"), "[true]");
  EXPECT_EQ(read("- !!null ''"), "[null]");
  EXPECT_EQ(read("- !!timestamp 2001-01-01"), "[\"2001-01-01\"]");
  EXPECT_EQ(read("- !!binary aGVsbG8="), "[\"hello\"]");
  EXPECT_EQ(read("- !!binary |\n  aGVs\n  bG8="), "[\"hello\"]");
  EXPECT_EQ(read("- !custom 12"), "[\"12\"]");
  EXPECT_EQ(read("- ! 12"), "[\"12\"]");
  EXPECT_EQ(read("- !<tag:yaml.org,2002:int> 7"), "[7]");
  EXPECT_EQ(read("!!str 1: v"), "{\"1\":\"v\"}");
}

TEST(YamlScalar, text_that_does_not_fit_its_tag_is_an_error) {
  for (std::string text : {"!!int abc", "!!int 1.5", "!!float abc", "!!bool 1", "!!null x",
                           "!!timestamp x", "!!binary x", "!!binary //8=", "!!int ''"}) {
    EXPECT_EQ(read("- " + text), "error") << text;
  }
}

TEST(YamlScalar, base_60_numbers_are_recognised_for_quoting) {
  for (std::string_view text : {"1:30", "190:20:30", "-1:2", "+12:30:45.5", "1_0:59", "1:2."}) {
    EXPECT_TRUE(internal::looks_like_base60(text)) << text;
  }
  for (std::string_view text :
       {"", "-", "1", "1:60", "1:2:", ":30", "a:30", "1:300", "1:2x", "_1:2"}) {
    EXPECT_FALSE(internal::looks_like_base60(text)) << text;
  }
}

TEST(YamlScalar, timestamps_are_recognised_for_quoting) {
  for (std::string_view text :
       {"2001-01-01", "2001-1-1", "2000-02-29", "2001-12-14t21:59:43.10-05:00",
        "2001-12-14T21:59:43Z", "2001-12-14 21:59:43", "2001-12-14 1:2:3.5",
        "2001-12-14T1:2:3,5Z"}) {
    EXPECT_TRUE(internal::looks_like_timestamp(text)) << text;
  }
  for (std::string_view text :
       {"", "2001", "2001-01", "2001-13-01", "2001-02-29", "1900-02-29", "2001-01-00", "201-01-01",
        "2001-12-14T21:59:43", "2001-12-14T24:00:00Z", "2001-12-14T1:60:0Z", "2001-12-14T1:2:3z",
        "2001-12-14 1:2:3Z", "2001-12-14T1:2:3+0500", "2001-12-14x", "2001-12-14T1:2:3.Z"}) {
    EXPECT_FALSE(internal::looks_like_timestamp(text)) << text;
  }
}

}  // namespace
}  // namespace codeflare::json
