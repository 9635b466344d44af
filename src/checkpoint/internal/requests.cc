#include "checkpoint/internal/requests.h"

#include "checkpoint/crc32c.h"
#include "json/parse.h"
#include "json/write.h"
#include "net/url.h"

#include <charconv>
#include <utility>

namespace codeflare::checkpoint::internal {

namespace {

constexpr std::string_view kJobs = "/v1/jobs/";
constexpr std::size_t kMetadataBytesMax = 64u << 10;
constexpr std::size_t kJobNameMax = 253;

Result<json::Document> parse_object(std::string_view body) {
  TRY_ASSIGN(json::Document document, json::parse(body.empty() ? "{}" : body));
  if (!document.root.is_object()) {
    return fail(invalid_argument("the body must be a JSON object"));
  }
  return document;
}

// A whole number that is not negative; absent: `otherwise`, or an error without one.
Result<std::int64_t> read_number(const json::Value& object, std::string_view key,
                                 std::optional<std::int64_t> otherwise) {
  const json::Value* value = object.find(key);
  if (value == nullptr && otherwise) {
    return *otherwise;
  }
  const auto number = value == nullptr ? std::nullopt : value->to_int64();
  if (!number || *number < 0) {
    return fail(
        invalid_argument("field " + std::string(key) + " must be a whole number of at least 0"));
  }
  return *number;
}

Result<std::string> read_text(const json::Value& object, std::string_view key,
                              std::size_t size_max) {
  const json::Value* value = object.find(key);
  if (value == nullptr) {
    return std::string();
  }
  if (!value->is_string() || value->as_string().size() > size_max) {
    return fail(invalid_argument("field " + std::string(key) + " must be a text of at most " +
                                 std::to_string(size_max) + " bytes"));
  }
  return std::string(value->as_string());
}

Result<bool> read_flag(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  if (value != nullptr && !value->is_boolean()) {
    return fail(invalid_argument("field " + std::string(key) + " must be true or false"));
  }
  return value != nullptr && value->as_bool();
}

Result<std::optional<LeaseProof>> read_lease(const json::Value& object) {
  const json::Value* lease = object.find("lease");
  if (lease == nullptr) {
    return std::nullopt;
  }
  LeaseProof proof;
  TRY_ASSIGN(proof.name, read_text(*lease, "name", kJobNameMax));
  TRY(check_name("lease", proof.name));
  TRY_ASSIGN(proof.token, read_number(*lease, "token", std::nullopt));
  return proof;
}

Result<std::uint64_t> parse_whole(std::string_view what, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > INT64_MAX) {
    return fail(invalid_argument(std::string(what) + " must be a whole number, not '" +
                                 std::string(text.substr(0, 32)) + "'"));
  }
  return value;
}

Result<ExpectedPart> read_part(const json::Value& item) {
  ExpectedPart part;
  TRY_ASSIGN(part.name, read_text(item, "name", kJobNameMax));
  TRY_ASSIGN(const std::int64_t size, read_number(item, "size", std::nullopt));
  part.size = static_cast<std::uint64_t>(size);
  TRY_ASSIGN(const std::string crc, read_text(item, "crc32c", 8));
  if (!crc.empty()) {
    TRY_ASSIGN(part.crc32c, parse_checksum(crc));
  }
  return part;
}

}  // namespace

Result<std::optional<JobPath>> parse_job_path(std::string_view path) {
  if (!path.starts_with(kJobs)) {
    return std::nullopt;
  }
  path.remove_prefix(kJobs.size());
  std::vector<std::string> segments;
  while (true) {
    const std::size_t slash = path.find('/');
    TRY_ASSIGN(std::string segment, net::percent_decode(path.substr(0, slash)));
    segments.push_back(std::move(segment));
    if (slash == std::string_view::npos) {
      break;
    }
    path.remove_prefix(slash + 1);
  }
  if (segments.size() < 2) {
    return std::nullopt;
  }
  JobPath result{.job = {.ns = segments[0], .uid = segments[1]}};
  TRY(check_job(result.job));
  result.rest.assign(segments.begin() + 2, segments.end());
  return result;
}

Result<CheckpointId> parse_id(std::string_view text) {
  TRY_ASSIGN(const std::uint64_t id, parse_whole("the checkpoint's id", text));
  return static_cast<CheckpointId>(id);
}

Result<std::size_t> parse_limit(std::string_view query) {
  TRY_ASSIGN(const std::vector<net::QueryItem> items, net::parse_query(query));
  std::size_t limit = SIZE_MAX;
  for (const net::QueryItem& item : items) {
    if (item.name == "limit") {
      TRY_ASSIGN(limit, parse_whole("limit", item.value));
    }
  }
  return limit;
}

Result<PutRequest> parse_put(std::string_view query, std::optional<std::size_t> size) {
  TRY_ASSIGN(const std::vector<net::QueryItem> items, net::parse_query(query));
  PutRequest request{.size = size};
  for (const net::QueryItem& item : items) {
    if (item.name == "offset") {
      TRY_ASSIGN(request.offset, parse_whole("offset", item.value));
    } else if (item.name == "crc32c") {
      TRY_ASSIGN(request.crc32c, parse_checksum(item.value));
    } else if (item.name == "crc32") {
      TRY_ASSIGN(request.crc32, parse_checksum(item.value));
    } else {
      return fail(invalid_argument("query item " + item.name.substr(0, 32) +
                                   " is unknown; use offset, crc32c or crc32"));
    }
  }
  return request;
}

Result<BeginRequest> parse_begin(std::string_view body, Retention retention) {
  TRY_ASSIGN(const json::Document document, parse_object(body));
  const json::Value& root = document.root;
  BeginRequest request;
  TRY_ASSIGN(request.generation, read_number(root, "generation", std::nullopt));
  TRY_ASSIGN(request.step, read_number(root, "step", std::nullopt));
  TRY_ASSIGN(request.world_size, read_number(root, "worldSize", 0));
  TRY_ASSIGN(const std::int64_t bytes, read_number(root, "bytes", 0));
  request.bytes = static_cast<std::uint64_t>(bytes);
  TRY_ASSIGN(request.job_name, read_text(root, "jobName", kJobNameMax));
  TRY_ASSIGN(request.retention.keep, read_number(root, "keep", retention.keep));
  TRY_ASSIGN(request.retention.keep_every, read_number(root, "keepEvery", retention.keep_every));
  TRY_ASSIGN(request.lease, read_lease(root));
  TRY_ASSIGN(request.bucket, read_flag(root, "bucket"));
  if (const json::Value* metadata = root.find("metadata")) {
    if (!metadata->is_object()) {
      return fail(invalid_argument("field metadata must be an object"));
    }
    request.metadata = json::to_text(*metadata);
    if (request.metadata.size() > kMetadataBytesMax) {
      return fail(too_large("field metadata has " + std::to_string(request.metadata.size()) +
                            " bytes, at most 65536 are allowed"));
    }
  }
  return request;
}

Result<CommitRequest> parse_commit(std::string_view body) {
  TRY_ASSIGN(const json::Document document, parse_object(body));
  CommitRequest request;
  TRY_ASSIGN(request.lease, read_lease(document.root));
  TRY_ASSIGN(request.bucket, read_flag(document.root, "bucket"));
  const json::Value* parts = document.root.find("parts");
  if (parts == nullptr) {
    return request;
  }
  if (!parts->is_array()) {
    return fail(invalid_argument("field parts must be a list"));
  }
  request.parts.emplace();
  for (const json::Value& item : parts->items()) {
    TRY_ASSIGN(ExpectedPart part, read_part(item));
    request.parts->push_back(std::move(part));
  }
  return request;
}

Result<LeaseRequest> parse_lease(std::string_view name, std::string_view body) {
  TRY_ASSIGN(const json::Document document, parse_object(body));
  LeaseRequest request{.name = std::string(name)};
  TRY(check_name("lease", name));
  TRY_ASSIGN(request.holder, read_text(document.root, "holder", kJobNameMax));
  TRY_ASSIGN(request.token, read_number(document.root, "token", 0));
  TRY_ASSIGN(request.seconds, read_number(document.root, "seconds", request.seconds));
  return request;
}

Result<std::int64_t> parse_fence(std::string_view body) {
  TRY_ASSIGN(const json::Document document, parse_object(body));
  return read_number(document.root, "generation", std::nullopt);
}

}  // namespace codeflare::checkpoint::internal
