#include "model/fields.h"

#include <gtest/gtest.h>

#include <map>

namespace codeflare::model {
namespace {

FieldSelector selector(std::string_view text) {
  Result<FieldSelector> parsed = FieldSelector::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(FieldSelector());
}

TEST(FieldSelector, text_becomes_canonical) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},        {",,", ""},       {"b=2,a=1", "a=1,b=2"},
      {"a==1", "a=1"}, {"a!=1", "a!=1"}, {"a=", "a="},
      {"=", ""},       {"!a=1", "!a=1"}, {R"(a=x\,y\=z\\)", R"(a=x\,y\=z\\)"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(selector(text).to_string(), canonical) << text;
    EXPECT_EQ(selector(canonical), selector(text)) << text;
  }
}

TEST(FieldSelector, escapes_are_undone_in_values) {
  const FieldSelector parsed = selector(R"(metadata.name=a\,b\=c\\d)");
  ASSERT_EQ(parsed.terms().size(), 1u);
  EXPECT_EQ(parsed.terms()[0].value, R"(a,b=c\d)");
  EXPECT_EQ(escape_field_value(R"(a,b=c\d)"), R"(a\,b\=c\\d)");
}

TEST(FieldSelector, bad_text_is_refused) {
  const auto complaint = [](std::string_view text) {
    Result<FieldSelector> parsed = FieldSelector::parse(text);
    return parsed ? "accepted" : parsed.error().message;
  };
  EXPECT_EQ(complaint("a=1,b"), "invalid selector: 'a=1,b'; can't understand 'b'");
  EXPECT_EQ(complaint("a=b=c"), "invalid field selector: unescaped character in value: =");
  EXPECT_EQ(complaint(R"(a=\x)"), R"(invalid field selector: invalid escape sequence: \x)");
  EXPECT_EQ(complaint(R"(a=b\)"), R"(invalid field selector: invalid escape sequence: \)");
}

TEST(FieldSelector, all_terms_must_hold_and_absent_is_empty) {
  const std::map<std::string_view, std::string_view> pod = {{"status.phase", "Running"},
                                                            {"spec.nodeName", "n1"}};
  const auto lookup = [&](std::string_view field) {
    auto at = pod.find(field);
    return at == pod.end() ? std::string_view() : at->second;
  };
  EXPECT_TRUE(selector("").matches(lookup));
  EXPECT_TRUE(selector("status.phase=Running,spec.nodeName!=n2").matches(lookup));
  EXPECT_FALSE(selector("status.phase=Running,spec.nodeName!=n1").matches(lookup));
  EXPECT_TRUE(selector("status.podIP=").matches(lookup));
  EXPECT_TRUE(FieldSelector::equals("spec.nodeName", "n1").matches(lookup));
}

TEST(FieldSelector, an_exact_value_is_known_for_equality_only) {
  EXPECT_EQ(selector("metadata.name=x").exact_value("metadata.name"), "x");
  EXPECT_EQ(selector("metadata.name!=x").exact_value("metadata.name"), std::nullopt);
  EXPECT_EQ(selector("a=1").exact_value("metadata.name"), std::nullopt);
}

}  // namespace
}  // namespace codeflare::model
