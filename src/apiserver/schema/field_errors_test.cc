#include "apiserver/schema/field_errors.h"

#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

std::string shown(std::string_view text) {
  auto document = json::parse(text);
  return document ? show(document->root) : document.error().message;
}

TEST(FieldErrors, one_error_reads_as_upstream_writes_it) {
  FieldErrors errors;
  errors.required("spec.containers");
  Error error = errors.to_error("", "Pod", "x");
  EXPECT_EQ(error.message, R"(Pod "x" is invalid: spec.containers: Required value)");
  const model::Status* status = model::status_of(error);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->code, 422);
  EXPECT_EQ(status->reason, "Invalid");
  ASSERT_TRUE(status->details);
  EXPECT_EQ(status->details->kind, "Pod");
  EXPECT_EQ(status->details->name, "x");
  ASSERT_EQ(status->details->causes.size(), 1u);
  EXPECT_EQ(status->details->causes[0].reason, "FieldValueRequired");
  EXPECT_EQ(status->details->causes[0].message, "Required value");
  EXPECT_EQ(status->details->causes[0].field, "spec.containers");
}

TEST(FieldErrors, several_errors_stand_in_brackets_and_equal_ones_once) {
  FieldErrors errors;
  errors.invalid("spec.replicas", "-1", "must be greater than or equal to 0");
  errors.not_supported("spec.mode", quote("x"), {"A", "B"});
  errors.not_supported("spec.mode", quote("x"), {"A", "B"});
  Error error = errors.to_error("batch", "Job", "j");
  EXPECT_EQ(error.message,
            R"(Job.batch "j" is invalid: [spec.replicas: Invalid value: -1: must be greater than )"
            R"(or equal to 0, spec.mode: Unsupported value: "x": supported values: "A", "B"])");
  EXPECT_EQ(model::status_of(error)->details->causes.size(), 3u);
}

TEST(FieldErrors, every_kind_of_error_has_its_words) {
  FieldErrors errors;
  errors.forbidden("a", "no");
  errors.duplicate("b", quote("v"));
  errors.not_found("c", "7");
  errors.too_long("d", 63);
  errors.too_many("e", 3, 1);
  errors.type_invalid("f", quote("string"), "f in body must be of type integer: \"string\"");
  errors.invalid_text("g", "a\"b", "bad");
  std::string all;
  for (const model::StatusCause& cause : errors.causes()) {
    all += cause.reason + "|" + cause.field + ": " + cause.message + "\n";
  }
  EXPECT_EQ(all,
            "FieldValueForbidden|a: Forbidden: no\n"
            "FieldValueDuplicate|b: Duplicate value: \"v\"\n"
            "FieldValueNotFound|c: Not found: 7\n"
            "FieldValueTooLong|d: Too long: may not be more than 63 bytes\n"
            "FieldValueTooMany|e: Too many: 3: must have at most 1 item\n"
            "FieldValueTypeInvalid|f: Invalid value: \"string\": f in body must be of type "
            "integer: \"string\"\n"
            "FieldValueInvalid|g: Invalid value: \"a\\\"b\": bad\n");
}

TEST(FieldErrors, values_are_shown_as_go_prints_them) {
  EXPECT_EQ(shown(R"("a\n\u0001ü")"), R"("a\n\x01ü")");
  EXPECT_EQ(shown("1.5"), "1.5");
  EXPECT_EQ(shown("null"), "null");
  EXPECT_EQ(shown(R"({"b":[1,"x"],"a":{}})"), R"({"a":{},"b":[1,"x"]})");
  EXPECT_EQ(quote("\xff"), R"("\xff")");
}

}  // namespace
}  // namespace codeflare::apiserver
