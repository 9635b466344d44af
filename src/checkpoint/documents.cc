#include "checkpoint/documents.h"

#include "checkpoint/crc32c.h"
#include "checkpoint/rules.h"
#include "json/parse.h"
#include "json/write.h"

#include <utility>

namespace codeflare::checkpoint {

namespace {

std::unexpected<Error> damaged(std::string_view field) {
  return fail(data_loss("field " + std::string(field) + " is missing or wrong"));
}

Result<std::int64_t> read_number(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  const auto number = value == nullptr ? std::nullopt : value->to_int64();
  if (!number || *number < 0) {
    return damaged(key);
  }
  return *number;
}

Result<WallTime> read_time(const json::Value& object, std::string_view key) {
  const std::string_view text = object.string_or_empty(key);
  return text.empty() ? Result<WallTime>(WallTime()) : parse_rfc3339(text);
}

void write_chunk(json::Writer& writer, const Chunk& chunk, Detail detail) {
  writer.begin_object();
  writer.key("offset").integer(static_cast<std::int64_t>(chunk.offset));
  writer.key("size").integer(static_cast<std::int64_t>(chunk.size));
  writer.member("crc32c", checksum_text(chunk.crc32c));
  if (detail == Detail::manifest) {
    writer.member("file", chunk.file);
  }
  writer.end_object();
}

void write_part(json::Writer& writer, const std::string& name, const Part& part, Detail detail) {
  writer.begin_object().member("name", name);
  writer.key("size").integer(static_cast<std::int64_t>(size_of(part)));
  writer.member("crc32c", checksum_text(crc32c_of(part)));
  if (detail != Detail::summary) {
    writer.key("chunks").begin_array();
    for (const auto& [offset, chunk] : part) {
      write_chunk(writer, chunk, detail);
    }
    writer.end_array();
  }
  writer.end_object();
}

Result<Part> read_chunks(const json::Value& value) {
  Part part;
  const json::Value* chunks = value.find("chunks");
  for (const json::Value& item : chunks == nullptr ? json::Value().items() : chunks->items()) {
    Chunk chunk;
    TRY_ASSIGN(const std::int64_t offset, read_number(item, "offset"));
    TRY_ASSIGN(const std::int64_t size, read_number(item, "size"));
    TRY_ASSIGN(chunk.crc32c, parse_checksum(item.string_or_empty("crc32c")));
    chunk.offset = static_cast<std::uint64_t>(offset);
    chunk.size = static_cast<std::uint64_t>(size);
    chunk.file = item.string_or_empty("file");
    part.emplace(chunk.offset, std::move(chunk));
  }
  if (chunks == nullptr) {  // a summary: one chunk stands for the part
    TRY_ASSIGN(const std::int64_t size, read_number(value, "size"));
    TRY_ASSIGN(const std::uint32_t crc, parse_checksum(value.string_or_empty("crc32c")));
    part.emplace(0, Chunk{.size = static_cast<std::uint64_t>(size), .crc32c = crc});
  }
  return part;
}

Result<State> read_state(std::string_view text) {
  for (const State state : {State::open, State::sealed, State::committed}) {
    if (text == to_string(state)) {
      return state;
    }
  }
  return damaged("state");
}

}  // namespace

std::string checkpoint_text(const Checkpoint& checkpoint, Detail detail) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("id").integer(checkpoint.id);
  writer.member("state", to_string(checkpoint.state));
  writer.key("generation").integer(checkpoint.generation);
  writer.key("step").integer(checkpoint.step);
  writer.key("worldSize").integer(checkpoint.world_size);
  writer.member_if_set("jobName", checkpoint.job_name);
  if (checkpoint.state == State::committed) {
    writer.key("number").integer(checkpoint.number);
  }
  writer.member("created", to_rfc3339(checkpoint.created));
  if (checkpoint.state == State::committed) {
    writer.member("committed", to_rfc3339(checkpoint.committed));
  }
  writer.key("bytes").integer(static_cast<std::int64_t>(checkpoint.bytes()));
  writer.key("metadata").raw(checkpoint.metadata);
  if (detail == Detail::manifest) {
    writer.key("keep").integer(checkpoint.retention.keep);
    writer.key("keepEvery").integer(checkpoint.retention.keep_every);
  }
  writer.key("parts").begin_array();
  for (const auto& [name, part] : checkpoint.parts) {
    write_part(writer, name, part, detail);
  }
  writer.end_array().end_object();
  return text;
}

Result<Checkpoint> parse_checkpoint(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  const json::Value& root = document.root;
  Checkpoint checkpoint;
  TRY_ASSIGN(checkpoint.id, read_number(root, "id"));
  TRY_ASSIGN(checkpoint.state, read_state(root.string_or_empty("state")));
  TRY_ASSIGN(checkpoint.generation, read_number(root, "generation"));
  TRY_ASSIGN(checkpoint.step, read_number(root, "step"));
  TRY_ASSIGN(checkpoint.world_size, read_number(root, "worldSize"));
  TRY_ASSIGN(checkpoint.created, read_time(root, "created"));
  TRY_ASSIGN(checkpoint.committed, read_time(root, "committed"));
  checkpoint.job_name = root.string_or_empty("jobName");
  checkpoint.number = read_number(root, "number").value_or(0);
  checkpoint.retention.keep = read_number(root, "keep").value_or(Retention{}.keep);
  checkpoint.retention.keep_every = read_number(root, "keepEvery").value_or(0);
  if (const json::Value* metadata = root.find("metadata")) {
    checkpoint.metadata = json::to_text(*metadata);
  }
  const json::Value* parts = root.find("parts");
  if (parts == nullptr || !parts->is_array()) {
    return damaged("parts");
  }
  for (const json::Value& item : parts->items()) {
    std::string name(item.string_or_empty("name"));
    TRY(check_name("part", name));
    TRY_ASSIGN(Part part, read_chunks(item));
    checkpoint.parts.emplace(std::move(name), std::move(part));
  }
  return checkpoint;
}

std::string record_text(const JobRecord& record) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("generation").integer(record.generation);
  writer.key("idCeiling").integer(record.id_ceiling);
  writer.key("tokenNext").integer(record.token_next);
  writer.member_if_set("jobName", record.job_name);
  writer.key("leases").begin_array();
  for (const auto& [name, lease] : record.leases) {
    writer.begin_object().member("name", name).member("holder", lease.holder);
    writer.key("token").integer(lease.token);
    writer.key("seconds").integer(lease.seconds).end_object();
  }
  writer.end_array().end_object();
  return text;
}

Result<JobRecord> parse_record(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  const json::Value& root = document.root;
  JobRecord record;
  TRY_ASSIGN(record.generation, read_number(root, "generation"));
  TRY_ASSIGN(record.id_ceiling, read_number(root, "idCeiling"));
  TRY_ASSIGN(record.token_next, read_number(root, "tokenNext"));
  record.job_name = root.string_or_empty("jobName");
  const json::Value* leases = root.find("leases");
  if (leases == nullptr) {
    return damaged("leases");
  }
  for (const json::Value& item : leases->items()) {
    Lease lease{.holder = std::string(item.string_or_empty("holder"))};
    TRY_ASSIGN(lease.token, read_number(item, "token"));
    TRY_ASSIGN(lease.seconds, read_number(item, "seconds"));
    record.leases.emplace(item.string_or_empty("name"), std::move(lease));
  }
  return record;
}

}  // namespace codeflare::checkpoint
