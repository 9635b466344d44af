#include "node/agent/log_reader.h"

#include "base/async/sleep.h"
#include "node/wire/log_lines.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>
#include <vector>

namespace codeflare::node {

namespace {

constexpr std::size_t kReadBytes = 256u << 10;
constexpr Duration kLookEvery = std::chrono::milliseconds(100);

// "3.12.log" of attempt 3 is sequence 12.
std::optional<std::uint32_t> sequence_of(const std::string& name, std::int32_t attempt) {
  const std::string prefix = std::to_string(attempt) + ".";
  if (!name.starts_with(prefix) || !name.ends_with(".log")) {
    return std::nullopt;
  }
  std::uint32_t sequence = 0;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size() - 4;
  const auto [at, error] = std::from_chars(begin, end, sequence);
  return error == std::errc() && at == end ? std::optional(sequence) : std::nullopt;
}

class LogBody final : public net::BodyStream {
 public:
  LogBody(Env env, LogFiles& files, LogQuery query)
      : env_(env), files_(files), query_(std::move(query)) {
    if (query_.limit_bytes) {
      left_ = static_cast<std::uint64_t>(std::max<std::int64_t>(*query_.limit_bytes, 0));
    }
  }

  Task<Result<Bytes>> read() override {
    if (!begun_) {
      begun_ = true;
      CO_TRY(co_await begin());
    }
    for (;;) {
      if (ended_ || left_ == 0u) {
        co_return Bytes();
      }
      // Asked before the look: what is written in between is then found by the next one.
      const bool more_may_come = query_.follow && query_.follow();
      CO_TRY_ASSIGN(std::string text, co_await next_lines());
      if (!text.empty()) {
        co_return Bytes::from(cut(std::move(text)));
      }
      if (!advanced_) {
        if (!more_may_come) {
          ended_ = true;
          continue;
        }
        CO_TRY(co_await sleep_for(kLookEvery));
      }
    }
  }

 private:
  std::string path(std::uint32_t sequence) const {
    return query_.directory + "/" + std::to_string(query_.attempt) + "." +
           std::to_string(sequence) + ".log";
  }

  std::string cut(std::string text) {
    if (left_) {
      text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), *left_)));
      *left_ -= text.size();
    }
    return text;
  }

  std::vector<std::uint32_t> sequences() {
    std::vector<std::uint32_t> found;
    const auto names = env_.files.list(query_.directory);
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
      if (const auto sequence = sequence_of(name, query_.attempt)) {
        found.push_back(*sequence);
      }
    }
    std::ranges::sort(found);
    return found;
  }

  // Where to begin: at the oldest file, or so far back that the wanted lines are there.
  Task<Result<void>> begin() {
    co_await run_blocking(env_, [this] {
      const std::vector<std::uint32_t> all = sequences();
      sequence_ = all.empty() ? 0 : all.front();
      if (query_.tail_lines) {
        seek_tail(all, *query_.tail_lines);
      }
    });
    co_return Result<void>();
  }

  // The newest files are looked through until they hold enough lines.
  void seek_tail(const std::vector<std::uint32_t>& all, std::int64_t lines) {
    std::int64_t wanted = std::max<std::int64_t>(lines, 0);
    for (std::size_t i = all.size(); i-- > 0;) {
      const std::vector<std::uint64_t> starts = line_starts(path(all[i]));
      sequence_ = all[i];
      offset_ = 0;
      if (wanted < static_cast<std::int64_t>(starts.size()) - 1) {
        offset_ = starts[starts.size() - 1 - static_cast<std::size_t>(wanted)];
        return;
      }
      wanted -= static_cast<std::int64_t>(starts.size()) - 1;
      if (wanted == 0) {
        return;
      }
    }
  }

  // Where each line of the container begins, and the end of the last one. Parts of one line count
  // once.
  std::vector<std::uint64_t> line_starts(const std::string& file) {
    std::vector<std::uint64_t> starts;
    std::uint64_t offset = 0;
    std::string pending;
    bool inside = false;
    for (;;) {
      const Result<std::string> bytes = files_.read(file, offset + pending.size(), kReadBytes);
      if (!bytes || bytes->empty()) {
        break;
      }
      pending += *bytes;
      std::size_t at = 0;
      for (std::size_t end = 0; (end = pending.find('\n', at)) != std::string::npos; at = end + 1) {
        if (!inside) {
          starts.push_back(offset + at);
        }
        const auto line = parse_log_line(std::string_view(pending).substr(at, end - at));
        inside = line && line->partial;
      }
      offset += at;
      pending.erase(0, at);
    }
    starts.push_back(offset);
    return starts;
  }

  bool is_wanted(const LogLine& line) const {
    if (!query_.since) {
      return true;
    }
    const Result<WallTime> time = parse_rfc3339(line.time);
    return !time || *time >= *query_.since;
  }

  void put(std::string& out, std::string_view text) {
    const auto line = parse_log_line(text);
    if (!line || !is_wanted(*line)) {
      return;
    }
    if (query_.timestamps && !inside_line_) {
      out += line->time;
      out += ' ';
    }
    out += line->text;
    if (!line->partial) {
      out += '\n';
    }
    inside_line_ = line->partial;
  }

  // The next whole lines; empty when there are none now. Goes on to the next file when one is used
  // up and another is there.
  Task<Result<std::string>> next_lines() {
    std::string out;
    advanced_ = false;
    Result<std::string> bytes = co_await run_blocking(env_, [this] {
      Result<std::string> read = files_.read(path(sequence_), offset_, kReadBytes);
      if ((!read || read->empty() || read->find('\n') == std::string::npos)) {
        const std::vector<std::uint32_t> all = sequences();
        const auto later = std::ranges::upper_bound(all, sequence_);
        // Lines written to this file before the next was begun must not be missed.
        Result<std::string> again = files_.read(path(sequence_), offset_, kReadBytes);
        if (later != all.end() && (!again || again->empty())) {
          sequence_ = *later;
          offset_ = 0;
          advanced_ = true;
          return Result<std::string>(std::string());
        }
        read = again ? std::move(again) : Result<std::string>(std::string());
      }
      return read;
    });
    CO_TRY_ASSIGN(const std::string text, std::move(bytes));
    std::size_t at = 0;
    for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      put(out, std::string_view(text).substr(at, end - at));
    }
    offset_ += at;
    advanced_ = advanced_ || at > 0;
    co_return out;
  }

  Env env_;
  LogFiles& files_;
  LogQuery query_;
  std::optional<std::uint64_t> left_;
  std::uint32_t sequence_ = 0;
  std::uint64_t offset_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  bool advanced_ = false;
  bool inside_line_ = false;
};

}  // namespace

net::Body read_log(Env env, LogFiles& files, LogQuery query) {
  return std::make_unique<LogBody>(env, files, std::move(query));
}

}  // namespace codeflare::node
