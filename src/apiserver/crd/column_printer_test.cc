#include "apiserver/crd/column_printer.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

std::string cells(const TablePrinter& printer, std::string_view object,
                  std::string_view now = "2026-01-10T00:00:00Z") {
  auto document = json::parse(object);
  json::Value result = json::Value::array();
  printer.print(document->root, *parse_rfc3339(now), document->arena, result);
  return json::to_text(result);
}

TEST(ColumnPrinter, shows_name_and_age_when_nothing_is_said) {
  auto printer = make_column_printer(nullptr);
  ASSERT_EQ(printer->columns().size(), 2u);
  EXPECT_EQ(printer->columns()[1].name, "Age");
  EXPECT_EQ(printer->columns()[1].type, "date");
  EXPECT_EQ(
      cells(*printer, R"({"metadata":{"name":"x","creationTimestamp":"2026-01-09T21:30:00Z"}})"),
      R"(["x","150m"])");
}

TEST(ColumnPrinter, prints_each_type) {
  auto columns = json::parse(
      R"([{"name":"S","type":"string","jsonPath":".s"},{"name":"I","type":"integer","jsonPath":".i","priority":1},
    {"name":"N","type":"number","jsonPath":".n"},{"name":"B","type":"boolean","jsonPath":".b"},{"name":"D","type":"date","jsonPath":".d"},{"name":"M","type":"string","jsonPath":".m","description":"d"}])");
  auto printer = make_column_printer(&columns->root);
  EXPECT_EQ(printer->columns()[2].priority, 1);
  EXPECT_EQ(printer->columns()[1].description,
            "Custom resource definition column (in JSONPath format): .s");
  EXPECT_EQ(printer->columns()[6].description, "d");
  EXPECT_EQ(
      cells(
          *printer,
          R"({"metadata":{"name":"x"},"s":"t","i":3,"n":1.5,"b":true,"d":"2026-01-01T00:00:00Z","m":{"b":[1,"x"],"a":true}})"),
      R"(["x","t",3,1.5,true,"9d","{\"a\":true,\"b\":[1,\"x\"]}"])");
  // A value that is absent or of another kind stays empty; text columns take everything.
  EXPECT_EQ(cells(*printer, R"({"metadata":{"name":"x"},"s":7,"i":"3","b":null,"d":"soon"})"),
            R"(["x","7",null,null,null,"<invalid>",null])");
}

TEST(ColumnPrinter, ages_get_coarser) {
  auto printer = make_column_printer(nullptr);
  auto age = [&](std::string_view now) {
    return cells(*printer,
                 R"({"metadata":{"name":"x","creationTimestamp":"2026-01-01T00:00:00Z"}})", now);
  };
  EXPECT_EQ(age("2026-01-01T00:01:59Z"), R"(["x","119s"])");
  EXPECT_EQ(age("2026-01-01T00:02:05Z"), R"(["x","2m5s"])");
  EXPECT_EQ(age("2026-01-01T03:05:00Z"), R"(["x","3h5m"])");
  EXPECT_EQ(age("2026-01-02T23:00:00Z"), R"(["x","47h"])");
  EXPECT_EQ(age("2026-01-04T01:00:00Z"), R"(["x","3d1h"])");
  EXPECT_EQ(age("2027-06-01T00:00:00Z"), R"(["x","516d"])");
  EXPECT_EQ(age("2029-01-01T00:00:00Z"), R"(["x","3y1d"])");
}

}  // namespace
}  // namespace codeflare::apiserver
