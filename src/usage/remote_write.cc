#include "usage/remote_write.h"

#include <bit>
#include <charconv>
#include <utility>

namespace codeflare::usage {

namespace {

constexpr std::size_t kAnswerBytesMax = 64u << 10;
constexpr std::size_t kSamplesPerRequest = 2000;
constexpr std::size_t kLiteralMax = 1u << 16;

void add_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// A field of wire type 2.
void add_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  add_varint(out, field << 3 | 2);
  add_varint(out, bytes.size());
  out += bytes;
}

std::string label_message(const std::string& name, const std::string& value) {
  std::string out;
  add_bytes(out, 1, name);
  add_bytes(out, 2, value);
  return out;
}

std::string sample_message(const Sample& sample) {
  std::string out;
  add_varint(out, 1 << 3 | 1);
  std::uint64_t bits = std::bit_cast<std::uint64_t>(sample.value);
  for (int byte = 0; byte < 8; ++byte, bits >>= 8) {
    out += static_cast<char>(bits & 0xff);
  }
  add_varint(out, 2 << 3 | 0);
  add_varint(out, static_cast<std::uint64_t>(sample.time_ms));
  return out;
}

// Answers that name a bad sample. Others (a wrong login, a wrong path) would be the same for each.
bool is_about_samples(int status) {
  return status == 400 || status == 409 || status == 413 || status == 422;
}

Duration retry_after_of(const net::Headers& headers) {
  const std::string_view text = headers.get("Retry-After").value_or("");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end == text.data() + text.size() && seconds > 0
             ? Duration(std::chrono::seconds(seconds))
             : Duration::zero();
}

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

}  // namespace

std::string snappy_literals(std::string_view bytes) {
  std::string out;
  add_varint(out, bytes.size());
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kLiteralMax);
    const std::size_t length = piece.size() - 1;
    // Tag 61: the length follows in two bytes.
    out += static_cast<char>(61 << 2);
    out += static_cast<char>(length & 0xff);
    out += static_cast<char>(length >> 8);
    out += piece;
    bytes.remove_prefix(piece.size());
  }
  return out;
}

std::string write_request(const std::vector<Sample>& samples) {
  std::string request;
  for (const Sample& sample : samples) {
    std::string series;
    for (const auto& [name, value] : sample.labels) {
      add_bytes(series, 1, label_message(name, value));
    }
    add_bytes(series, 2, sample_message(sample));
    add_bytes(request, 1, series);
  }
  return snappy_literals(request);
}

Verdict verdict_of(int status) {
  if (status >= 200 && status < 300) {
    return Verdict::sent;
  }
  return status == 0 || status == 429 || status >= 500 ? Verdict::retry : Verdict::drop;
}

RemoteWriter::RemoteWriter(Env env, net::HttpService& http, RemoteWriteOptions options)
    : env_(env), http_(http), options_(std::move(options)) {}

// A series whose last time is not in the past (the clock was set back) waits for the clock.
std::vector<Sample> RemoteWriter::stamp(const std::map<Labels, double>& counters) const {
  const std::int64_t now = milliseconds_of(env_.clock.wall());
  std::vector<Sample> samples;
  for (const auto& [labels, value] : counters) {
    const auto sent = sent_ms_.find(labels);
    if (sent == sent_ms_.end() || sent->second < now) {
      samples.push_back({.labels = labels, .value = value, .time_ms = now});
    }
  }
  return samples;
}

Task<Result<RemoteWriter::Outcome>> RemoteWriter::post(std::vector<Sample> samples) {
  std::string text = write_request(samples);
  const std::size_t size = text.size();
  net::Request request{.method = "POST",
                       .target = options_.target,
                       .headers = {{"Content-Encoding", "snappy"},
                                   {"Content-Type", "application/x-protobuf"},
                                   {"User-Agent", options_.user_agent},
                                   {"X-Prometheus-Remote-Write-Version", "0.1.0"}},
                       .body = net::body_of(std::move(text)),
                       .body_size = size};
  if (!options_.authorization.empty()) {
    request.headers.add("Authorization", options_.authorization.reveal());
  }
  Result<net::Response> response = co_await http_.send(std::move(request));
  if (!response && response.error().code == ErrorCode::cancelled) {
    co_return fail(std::move(response).error());
  }
  Outcome outcome;
  if (!response) {
    outcome.message = response.error().message;
    co_return outcome;
  }
  outcome.status = response->status;
  outcome.verdict = verdict_of(response->status);
  outcome.retry_after = retry_after_of(response->headers);
  if (response->body != nullptr && outcome.verdict != Verdict::sent) {
    net::Body body = std::move(response->body);
    outcome.message = (co_await net::read_all(std::move(body), kAnswerBytesMax)).value_or("");
  }
  if (outcome.verdict != Verdict::retry) {
    for (const Sample& sample : samples) {
      sent_ms_[sample.labels] = sample.time_ms;
    }
  }
  co_return outcome;
}

Task<Result<SendResult>> RemoteWriter::send(std::map<Labels, double> counters) {
  SendResult result;
  const std::vector<Sample> samples = stamp(counters);
  for (std::size_t begin = 0; begin < samples.size(); begin += kSamplesPerRequest) {
    const std::size_t end = std::min(samples.size(), begin + kSamplesPerRequest);
    std::vector<std::vector<Sample>> batches;
    batches.emplace_back(samples.begin() + static_cast<std::ptrdiff_t>(begin),
                         samples.begin() + static_cast<std::ptrdiff_t>(end));
    while (!batches.empty()) {
      std::vector<Sample> batch = std::move(batches.back());
      batches.pop_back();
      CO_TRY_ASSIGN(Outcome outcome, co_await post(batch));
      if (outcome.verdict == Verdict::sent) {
        result.sent += batch.size();
        continue;
      }
      result.last_error = std::to_string(outcome.status) + ": " + outcome.message;
      if (outcome.verdict == Verdict::retry) {
        result.retry = true;
        result.retry_after = outcome.retry_after;
        co_return result;
      }
      if (!is_about_samples(outcome.status)) {
        result.dropped = samples.size() - result.sent;
        co_return result;
      }
      if (batch.size() == 1) {
        ++result.dropped;
        continue;
      }
      // One bad sample makes the server drop the whole request: each series by itself.
      for (Sample& sample : batch) {
        batches.push_back({std::move(sample)});
      }
    }
  }
  co_return result;
}

}  // namespace codeflare::usage
