#include "apiserver/rest/internal/encode.h"
#include "base/human_duration.h"
#include "json/parse.h"
#include "json/write.h"

namespace codeflare::apiserver::internal {
namespace {

// Kinds that nobody wrote a printer for.
class PlainPrinter final : public TablePrinter {
 public:
  const std::vector<Column>& columns() const override { return columns_; }
  void print(const json::Value& object, WallTime now, json::Arena& arena,
             json::Value& cells) const override {
    const json::Value* name = object.get({"metadata", "name"});
    cells.push_back(arena, name != nullptr ? *name : json::Value::string_view_of(""));
    cells.push_back(arena, json::Value::string(arena, age_of(object, now)));
  }

 private:
  std::vector<Column> columns_ = {
      {.name = "Name", .format = "name", .description = "Name of the object."},
      {.name = "Age", .description = "Time since the object was created."},
  };
};

const TablePrinter& printer_of(const Output& output) {
  static const PlainPrinter kPlain;
  return output.version->printer != nullptr ? *output.version->printer : kPlain;
}

void write_columns(json::Writer& writer, const std::vector<Column>& columns) {
  for (const Column& column : columns) {
    writer.begin_object()
        .member("name", column.name)
        .member("type", column.type)
        .member("format", column.format)
        .member("description", column.description)
        .key("priority")
        .integer(column.priority)
        .end_object();
  }
}

}  // namespace

std::string age_of(const json::Value& object, WallTime now) {
  const json::Value* created = object.get({"metadata", "creationTimestamp"});
  if (created == nullptr || !created->is_string()) {
    return "<unknown>";
  }
  Result<WallTime> time = parse_rfc3339(created->as_string());
  return time ? human_duration(now - *time) : "<unknown>";
}

std::string table_head(const Output& output, const TableHead& head) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object()
      .member("kind", "Table")
      .member("apiVersion", "meta.k8s.io/" + output.form.meta_version);
  writer.key("metadata").begin_object().member_if_set("resourceVersion", head.resource_version);
  writer.member_if_set("continue", head.continue_token);
  if (head.remaining) {
    writer.key("remainingItemCount").integer(*head.remaining);
  }
  writer.end_object();
  writer.key("columnDefinitions").begin_array();
  if (head.columns) {
    write_columns(writer, printer_of(output).columns());
  }
  writer.end_array();
  out += ",\"rows\":[";
  return out;
}

Result<std::string> table_row(const Output& output, const Bytes& text, WallTime now) {
  TRY_ASSIGN(json::Document document, json::parse_in_place(text.view()));
  TRY(convert(*output.resource, document.arena, document.root,
              output.resource->api_version(*output.version)));
  json::Value cells = json::Value::array();
  printer_of(output).print(document.root, now, document.arena, cells);
  std::string out = "{\"cells\":";
  json::append_text(out, cells);
  if (output.form.include == IncludeObject::object) {
    out += ",\"object\":";
    json::append_text(out, document.root);
  } else if (output.form.include == IncludeObject::metadata) {
    std::vector<Bytes> pieces;
    TRY(append_partial(output.form, text, pieces));
    out.append(",\"object\":").append(join(pieces));
  }
  out += '}';
  return out;
}

}  // namespace codeflare::apiserver::internal
