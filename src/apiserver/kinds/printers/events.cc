#include "apiserver/kinds/printers/row.h"

namespace codeflare::apiserver::printing {
namespace {

// The two groups' names of the same fields.
struct EventFields {
  std::string_view first_time;
  std::string_view last_time;
  std::string_view count;
  std::string_view object;
  std::string_view source;
  std::string_view message;
};

constexpr EventFields kCore = {.first_time = "firstTimestamp",
                               .last_time = "lastTimestamp",
                               .count = "count",
                               .object = "involvedObject",
                               .source = "source",
                               .message = "message"};
constexpr EventFields kEvents = {.first_time = "deprecatedFirstTimestamp",
                                 .last_time = "deprecatedLastTimestamp",
                                 .count = "deprecatedCount",
                                 .object = "regarding",
                                 .source = "deprecatedSource",
                                 .message = "note"};

std::string_view first_text(std::string_view a, std::string_view b) {
  return a.empty() ? b : a;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// "pod/web-0"
std::string target(const json::Value& object) {
  std::string out = lower(text_at(object, "kind"));
  std::string_view name = text_at(object, "name");
  return name.empty() ? out : out + "/" + std::string(name);
}

// "kubelet, node-1"
std::string source(const Row& row, const EventFields& fields) {
  const json::Value& old = object_at(row.object, fields.source);
  std::string_view controller = first_text(text_at(row.object, "reportingComponent"),
                                           text_at(row.object, "reportingController"));
  std::string out(first_text(text_at(old, "component"), controller));
  std::string_view instance =
      first_text(text_at(old, "host"), text_at(row.object, "reportingInstance"));
  return instance.empty() ? out : out + ", " + std::string(instance);
}

void print_event(Row& row, const EventFields& fields) {
  const json::Value& event = row.object;
  const json::Value& series = object_at(event, "series");
  const bool repeated = !absent(event, "series");
  const std::string first =
      row.since(event, absent(event, fields.first_time) ? "eventTime" : fields.first_time);
  std::string last = absent(event, fields.last_time) ? first : row.since(event, fields.last_time);
  std::int64_t count = count_at(event, fields.count);
  if (repeated) {
    last = row.since(series, "lastObservedTime");
    count = count_at(series, "count");
  } else if (count == 0) {
    count = 1;  // one that was seen once carries no count
  }
  const json::Value& object = object_at(event, fields.object);
  row.text(last)
      .text(text_at(event, "type"))
      .text(text_at(event, "reason"))
      .text(target(object))
      .text(text_at(object, "fieldPath"))
      .text(source(row, fields))
      .text(trimmed(text_at(event, fields.message)))
      .text(first)
      .integer(count)
      .name();
}

void print_core_event(Row& row) {
  print_event(row, kCore);
}
void print_events_event(Row& row) {
  print_event(row, kEvents);
}

std::vector<Column> event_columns() {
  return {text_column("Last Seen"), text_column("Type"),
          text_column("Reason"),    text_column("Object"),
          wide_column("Subobject"), wide_column("Source"),
          text_column("Message"),   wide_column("First Seen"),
          wide_column("Count"),     {.name = "Name", .format = "name", .priority = 1}};
}

}  // namespace

std::vector<KindPrinter> event_printers() {
  return {
      {.group = "", .plural = "events", .columns = event_columns(), .print = print_core_event},
      {.group = "events.k8s.io",
       .plural = "events",
       .columns = event_columns(),
       .print = print_events_event},
  };
}

}  // namespace codeflare::apiserver::printing
