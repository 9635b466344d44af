#include "model/validation.h"

#include <gtest/gtest.h>

namespace codeflare::model {
namespace {

TEST(Validation, dns_labels) {
  for (const char* good : {"a", "0", "a-b", "a--b", "123-abc"}) {
    EXPECT_TRUE(check_dns1123_label(good).empty()) << good;
  }
  EXPECT_TRUE(check_dns1123_label(std::string(63, 'a')).empty());
  EXPECT_EQ(check_dns1123_label(std::string(64, 'a')),
            (Complaints{"must be no more than 63 characters"}));
  EXPECT_EQ(check_dns1123_label("a.b"), (Complaints{"must not contain dots"}));
  const std::string words =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
      "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  for (const char* bad : {"", "-", "a-", "-a", "A", "a_b", "a b", "a..b", "\xc3\xa4"}) {
    EXPECT_EQ(check_dns1123_label(bad), Complaints{words}) << bad;
  }
}

TEST(Validation, dns_subdomains) {
  for (const char* good : {"a", "a.b", "a-1.b-2.c"}) {
    EXPECT_TRUE(check_dns1123_subdomain(good).empty()) << good;
  }
  EXPECT_EQ(check_dns1123_subdomain(std::string(254, 'a')),
            (Complaints{"must be no more than 253 characters"}));
  const std::string words =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "a.-b", "A.b"}) {
    EXPECT_EQ(check_dns1123_subdomain(bad), Complaints{words}) << bad;
  }
}

TEST(Validation, service_names_begin_with_a_letter) {
  EXPECT_TRUE(check_dns1035_label("web-1").empty());
  EXPECT_EQ(check_dns1035_label("1-web"),
            (Complaints{"a DNS-1035 label must consist of lower case alphanumeric characters or "
                        "'-', start with an alphabetic character, and end with an alphanumeric "
                        "character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                        "'[a-z]([-a-z0-9]*[a-z0-9])?')"}));
  EXPECT_EQ(check_dns1035_label("").size(), 1u);
  EXPECT_EQ(check_dns1035_label(std::string(64, '1')).size(), 2u);
}

TEST(Validation, qualified_names) {
  for (const char* good : {"a", "A_b.c-D", "example.com/Name", "0/1"}) {
    EXPECT_TRUE(check_qualified_name(good).empty()) << good;
  }
  const std::string words =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  EXPECT_EQ(check_qualified_name(""),
            (Complaints{"name part must be non-empty", "name part " + words}));
  EXPECT_EQ(check_qualified_name("/a"), (Complaints{"prefix part must be non-empty"}));
  EXPECT_EQ(check_qualified_name("a/b/c"),
            (Complaints{"a qualified name " + words +
                        " with an optional DNS subdomain prefix and '/' (e.g. "
                        "'example.com/MyName')"}));
  EXPECT_EQ(check_qualified_name("-a"), Complaints{"name part " + words});
  EXPECT_EQ(check_qualified_name(std::string(64, 'a')),
            (Complaints{"name part must be no more than 63 characters"}));
  EXPECT_EQ(check_qualified_name("Bad.Prefix/x").size(), 1u);
  EXPECT_TRUE(check_qualified_name("Bad.Prefix/x")[0].starts_with("prefix part a lowercase"));
}

TEST(Validation, label_values) {
  for (const char* good : {"", "a", "A.b_c-0"}) {
    EXPECT_TRUE(check_label_value(good).empty()) << good;
  }
  EXPECT_EQ(check_label_value("a b"),
            (Complaints{"a valid label must be an empty string or consist of alphanumeric "
                        "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                        "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
                        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"}));
  EXPECT_EQ(check_label_value(std::string(64, '-')).size(), 2u);
}

TEST(Validation, config_map_keys_are_safe_file_names) {
  EXPECT_TRUE(check_config_map_key("a.b_C-0").empty());
  EXPECT_TRUE(check_config_map_key(".hidden").empty());
  EXPECT_EQ(check_config_map_key("."), (Complaints{"must not be '.'"}));
  EXPECT_EQ(check_config_map_key(".."), (Complaints{"must not be '..'"}));
  EXPECT_EQ(check_config_map_key("..a"), (Complaints{"must not start with '..'"}));
  EXPECT_EQ(check_config_map_key("a/b").size(), 1u);
  EXPECT_EQ(check_config_map_key("").size(), 1u);
}

TEST(Validation, port_names) {
  EXPECT_TRUE(check_port_name("http-1").empty());
  EXPECT_EQ(check_port_name("80"), (Complaints{"must contain at least one letter (a-z)"}));
  EXPECT_EQ(check_port_name("-a"), (Complaints{"must not begin or end with a hyphen"}));
  EXPECT_EQ(check_port_name("a--b"), (Complaints{"must not contain consecutive hyphens"}));
  EXPECT_EQ(
      check_port_name("sixteen-letters-"),
      (Complaints{"must be no more than 15 characters", "must not begin or end with a hyphen"}));
  EXPECT_EQ(check_port_name("").size(), 2u);
}

TEST(Validation, complaints_join_into_one_line) {
  EXPECT_EQ(join({"a", "b"}), "a; b");
  EXPECT_EQ(join({}), "");
}

}  // namespace
}  // namespace codeflare::model
