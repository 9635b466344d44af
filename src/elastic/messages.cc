#include "elastic/messages.h"

#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace codeflare::elastic {

namespace {

using Type = WorkerMessage::Type;

struct TypeName {
  std::string_view name;
  Type type;
};

constexpr TypeName kTypes[] = {
    {"hello", Type::hello},     {"ready", Type::ready},       {"hosting", Type::hosting},
    {"running", Type::running}, {"progress", Type::progress}, {"saved", Type::saved},
    {"unsaved", Type::unsaved}, {"left", Type::left},         {"done", Type::done},
};

Result<std::int64_t> number_in(const json::Value& object, std::string_view key,
                               std::int64_t max = std::numeric_limits<std::int64_t>::max()) {
  const json::Value* value = object.find(key);
  if (value == nullptr || value->is_null()) {
    return 0;
  }
  const std::optional<std::int64_t> number = value->to_int64();
  if (!number || *number < 0 || *number > max) {
    return fail(invalid_argument("'" + std::string(key) + "' is not a whole number of 0 to " +
                                 std::to_string(max)));
  }
  return *number;
}

std::optional<double> measure_in(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr || !value->is_number() ? std::nullopt : value->to_double();
}

// Another value than a count says nothing.
std::optional<std::int64_t> count_in(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  const std::optional<std::int64_t> count = value == nullptr ? std::nullopt : value->to_int64();
  return count && *count >= 0 ? count : std::nullopt;
}

std::string line_of(std::string_view type, auto add) {
  std::string line;
  json::Writer writer(line);
  writer.begin_object().member("type", type);
  add(writer);
  writer.end_object();
  line += '\n';
  return line;
}

}  // namespace

Result<WorkerMessage> parse_worker_message(std::string_view line) {
  TRY_ASSIGN(const json::Document document, json::parse(line, {.max_bytes = kMessageBytesMax}));
  const json::Value& object = document.root;
  const auto* known = std::ranges::find(kTypes, object.string_or_empty("type"), &TypeName::name);
  if (known == std::end(kTypes)) {
    return fail(invalid_argument("'type' is not a known message"));
  }
  constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max();
  WorkerMessage message{.type = known->type};
  TRY_ASSIGN(message.generation, number_in(object, "generation"));
  TRY_ASSIGN(message.step, number_in(object, "step"));
  TRY_ASSIGN(message.pid, number_in(object, "pid"));
  TRY_ASSIGN(const std::int64_t local_rank, number_in(object, "localRank", kInt));
  TRY_ASSIGN(const std::int64_t port, number_in(object, "port", 65535));
  message.local_rank = static_cast<std::int32_t>(local_rank);
  message.port = static_cast<std::int32_t>(port);
  message.samples_per_second = measure_in(object, "samplesPerSecond");
  message.step_seconds = measure_in(object, "stepSeconds");
  message.loss = measure_in(object, "loss");
  message.remaining_samples = count_in(object, "remainingSamples");
  message.tier = object.string_or_empty("tier");
  message.id = object.string_or_empty("id");
  message.message = object.string_or_empty("message");
  return message;
}

std::string notice_line(const Notice& notice) {
  return line_of("notice", [&](json::Writer& writer) {
    writer.key("generation").integer(notice.generation).member("reason", notice.reason);
    writer.key("stay").boolean(notice.stay).key("graceSeconds").integer(notice.grace_seconds);
  });
}

std::string host_line(std::int64_t generation) {
  return line_of("host",
                 [&](json::Writer& writer) { writer.key("generation").integer(generation); });
}

std::string round_line(const RoundForWorker& round) {
  return line_of("round", [&](json::Writer& writer) {
    writer.key("generation").integer(round.generation).key("rank").integer(round.rank);
    writer.key("localRank").integer(round.local_rank);
    writer.key("localWorldSize").integer(round.local_world_size);
    writer.key("worldSize").integer(round.world_size).member("masterAddress", round.master_address);
    writer.key("masterPort").integer(round.master_port).key("source").integer(round.source);
    writer.key("peers").begin_array();
    for (const std::string& peer : round.peers) {
      writer.string(peer);
    }
    writer.end_array();
  });
}

std::string save_line() {
  return line_of("save", [](json::Writer&) {});
}

std::string lost_line(std::int64_t generation) {
  return line_of("lost",
                 [&](json::Writer& writer) { writer.key("generation").integer(generation); });
}

}  // namespace codeflare::elastic
