#include "cli/simulate/internal/trace_builder.h"
#include "cli/simulate/trace.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace codeflare::cli::simulate {

namespace {

// The standard's fields, in its order.
enum Field : std::size_t {
  kJob,
  kSubmit,
  kWait,
  kRun,
  kUsedProcessors,
  kUsedCpu,
  kUsedMemory,
  kProcessors,
  kRequestedTime,
  kRequestedMemory,
  kStatus,
  kUser,
  kGroup,
  kExecutable,
  kQueue,
  kPartition,
  kPreceding,
  kThinkTime,
  kFields,
};
constexpr std::array<const char*, kFields> kNames = {
    "job number",      "submit time",      "wait time",   "run time",
    "used processors", "average cpu time", "used memory", "requested processors",
    "requested time",  "requested memory", "status",      "user",
    "group",           "executable",       "queue",       "partition",
    "preceding job",   "think time"};
constexpr double kProcessorsMax = 1e6;
constexpr double kMemoryMax = 1e9;  // KB a processor; times all of them it fits 64 bits

using Fields = std::array<double, kFields>;

std::string_view next_word(std::string_view& rest) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t begin = 0;
  while (begin < rest.size() && blank(rest[begin])) {
    ++begin;
  }
  std::size_t end = begin;
  while (end < rest.size() && !blank(rest[end])) {
    ++end;
  }
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

Result<Fields> split(std::string_view line) {
  Fields fields{};
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::string_view word = next_word(line);
    if (word.empty()) {
      return fail(invalid_argument("expected 18 numbers, got " + std::to_string(i)));
    }
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), fields[i]);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(fields[i])) {
      return fail(invalid_argument("field " + std::to_string(i + 1) + " (" + kNames[i] +
                                   "): expected a number, got " + shown(word)));
    }
  }
  if (!trim(line).empty()) {
    return fail(invalid_argument("expected 18 numbers, got more"));
  }
  return fields;
}

// The first known field: the standard writes -1 for what is not known.
double known(const Fields& fields, Field first, Field second) {
  return fields[first] > 0 ? fields[first] : fields[second];
}

Result<Duration> seconds_at(const Fields& fields, Field field) {
  // The longest that parse_seconds takes, too.
  constexpr double kMax = 8e9;
  if (fields[field] < 0 || fields[field] > kMax) {
    return fail(invalid_argument(std::string(kNames[field]) + ": expected seconds from 0 to 8e9"));
  }
  return Duration(std::llround(fields[field] * 1e9));
}

// Of a job that was checkpointed or swapped out: the whole has a line of its own before its parts.
bool is_part(const Fields& fields) {
  const double status = fields[kStatus];
  return status == 2 || status == 3 || status == 4;
}

Result<JobLine> job_of(const Fields& fields, double processors) {
  JobLine line;
  if (processors > kProcessorsMax || processors != std::floor(processors)) {
    return fail(invalid_argument("processors: expected a whole number up to 1000000"));
  }
  const double memory = known(fields, kRequestedMemory, kUsedMemory);
  if (memory > kMemoryMax) {
    return fail(invalid_argument("memory: expected at most 1e9 KB a processor"));
  }
  TRY_ASSIGN(line.submitted, seconds_at(fields, kSubmit));
  TRY_ASSIGN(line.job.duration, seconds_at(fields, kRun));
  if (fields[kRequestedTime] > 0) {
    TRY_ASSIGN(line.job.expected, seconds_at(fields, kRequestedTime));
  }
  const auto pods = static_cast<std::int64_t>(processors);
  line.job.pods = pods;
  line.job.cpu = pods * 1000;
  line.job.memory = memory > 0 ? pods * static_cast<Amount>(std::ceil(memory)) * 1024 : 0;
  return line;
}

}  // namespace

Result<Trace> read_swf(std::string_view text, const TraceOptions& options) {
  TraceBuilder builder(options);
  Lines lines(text);
  std::string user;
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty() || line.starts_with(';')) {
      continue;
    }
    const Result<Fields> fields = split(line);
    if (!fields) {
      TRY(builder.bad(lines.number(), fields.error().message));
      continue;
    }
    std::string_view rest = line;
    std::string id(next_word(rest));
    if (is_part(*fields) && builder.knows(id)) {
      builder.leave_out_part();
      continue;
    }
    // Cancelled before it ran, or nobody knows how large it was: nothing to replay.
    const double processors = known(*fields, kProcessors, kUsedProcessors);
    if (processors <= 0 || (*fields)[kRun] < 0 || (*fields)[kSubmit] < 0) {
      builder.leave_out();
      continue;
    }
    Result<JobLine> job = job_of(*fields, processors);
    if (!job) {
      TRY(builder.bad(lines.number(), job.error().message));
      continue;
    }
    job->job.id = std::move(id);
    job->number = lines.number();
    if ((*fields)[kUser] >= 0 && (*fields)[kUser] < 1e9) {
      user = std::to_string(static_cast<std::int64_t>((*fields)[kUser]));
      job->quota = user;
    }
    TRY(builder.add(*std::move(job)));
  }
  return std::move(builder).finish();
}

}  // namespace codeflare::cli::simulate
