#include "cli/simulate/internal/csv_row.h"
#include "cli/simulate/internal/trace_builder.h"
#include "cli/simulate/trace.h"
#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace codeflare::cli::simulate {

namespace {

enum Column : std::uint8_t {
  kId,
  kSubmit,
  kDuration,
  kPods,
  kCpu,  // of one pod
  kMemory,
  kGpu,
  kAllCpu,  // of the whole job
  kAllMemory,
  kAllGpu,
  kPriority,
  kQuota,
  kUser,
  kExpected,
  kLimit,
  kColumns,
};

struct Alias {
  std::string_view name;
  Column column;
  // The unit of the column: bytes in a GiB, millicores in a core.
  std::int64_t scale = 1;
};

constexpr std::int64_t kMi = std::int64_t{1} << 20;
constexpr std::int64_t kGi = std::int64_t{1} << 30;
// The first name of each column is the one that the documentation uses; the others are those of
// published traces (Philly, Helios, Acme, Alibaba, Pollux).
constexpr std::array kAliases = {
    Alias{"id", kId},
    Alias{"job_id", kId},
    Alias{"jobid", kId},
    Alias{"job", kId},
    Alias{"job_name", kId},
    Alias{"name", kId},
    Alias{"submit", kSubmit},
    Alias{"submit_time", kSubmit},
    Alias{"submitted", kSubmit},
    Alias{"submitted_time", kSubmit},
    Alias{"time", kSubmit},
    Alias{"timestamp", kSubmit},
    Alias{"arrival", kSubmit},
    Alias{"arrival_time", kSubmit},
    Alias{"creation_time", kSubmit},
    Alias{"duration", kDuration},
    Alias{"run_time", kDuration},
    Alias{"runtime", kDuration},
    Alias{"pods", kPods},
    Alias{"replicas", kPods},
    Alias{"num_replicas", kPods},
    Alias{"node_num", kPods},
    Alias{"worker_num", kPods},
    Alias{"cpu", kCpu, 1000},
    Alias{"cpus", kCpu, 1000},
    Alias{"cpu_request", kCpu, 1000},
    Alias{"cpu_milli", kCpu, 1},
    Alias{"memory", kMemory},
    Alias{"mem", kMemory},
    Alias{"memory_mib", kMemory, kMi},
    Alias{"memory_gib", kMemory, kGi},
    Alias{"gpu", kGpu},
    Alias{"gpus", kGpu},
    Alias{"num_gpu", kGpu},
    Alias{"gpu_request", kGpu},
    Alias{"total_cpu", kAllCpu, 1000},
    Alias{"num_cpus", kAllCpu, 1000},
    Alias{"cpu_num", kAllCpu, 1000},
    Alias{"total_memory", kAllMemory},
    Alias{"total_gpu", kAllGpu},
    Alias{"num_gpus", kAllGpu},
    Alias{"gpu_num", kAllGpu},
    Alias{"priority", kPriority},
    Alias{"quota", kQuota},
    Alias{"vc", kQuota},
    Alias{"user", kUser},
    Alias{"expected", kExpected},
    Alias{"requested_time", kExpected},
    Alias{"limit", kLimit},
    Alias{"time_limit", kLimit},
};

struct FoundColumn {
  std::size_t cell = std::string_view::npos;
  std::int64_t scale = 1;
  std::string name;
  bool exists() const { return cell != std::string_view::npos; }
};
using Header = std::array<FoundColumn, kColumns>;

constexpr std::int64_t kPodsMax = 1'000'000;
constexpr Amount kAmountMax = std::int64_t{1} << 60;

std::string normal_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == ' ' || c == '-' ? '_' : c;
  }
  return out;
}

Result<Header> read_header(const std::vector<std::string_view>& cells, Trace& trace) {
  Header header;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name = normal_name(cells[i]);
    const auto* alias = std::ranges::find(kAliases, std::string_view(name), &Alias::name);
    if (alias == kAliases.end()) {
      trace.unknown_columns.emplace_back(cells[i]);
      continue;
    }
    FoundColumn& place = header[alias->column];
    if (place.exists()) {
      return fail(invalid_argument("columns " + shown(place.name) + " and " + shown(name) +
                                   " mean the same"));
    }
    place = {i, alias->scale, name};
  }
  for (const auto& [column, name] :
       {std::pair{kSubmit, "submit"}, std::pair{kDuration, "duration"}}) {
    if (!header[column].exists()) {
      return fail(
          invalid_argument("expected a header with the columns submit and duration, found "
                           "none for " +
                           std::string(name)));
    }
  }
  return header;
}

// "2017-10-09 07:01:55", RFC 3339, or seconds.
std::optional<Duration> parse_submit(std::string_view text) {
  if (const auto seconds = parse_seconds(text)) {
    return seconds;
  }
  std::string date(text);
  if (date.size() < 19) {
    return std::nullopt;
  }
  date[10] = date[10] == ' ' ? 'T' : date[10];
  Result<WallTime> time = parse_rfc3339(date);
  if (!time) {
    time = parse_rfc3339(date + "Z");
  }
  if (!time || time->time_since_epoch() < Duration::zero()) {
    return std::nullopt;
  }
  return time->time_since_epoch();
}

// A whole number of units times scale, or a quantity ("500m", "16Gi"); rounded up.
std::optional<Amount> parse_amount(std::string_view text, std::int64_t scale) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) {
    return whole >= 0 && whole <= kAmountMax / scale ? std::optional(whole * scale) : std::nullopt;
  }
  const Result<model::Quantity> quantity = model::Quantity::parse(text);
  if (!quantity || quantity->sign() < 0) {
    return std::nullopt;
  }
  const Amount amount = (*quantity * scale).value();
  return amount <= kAmountMax ? std::optional(amount) : std::nullopt;
}

// One line against the header.
class RowReader {
 public:
  RowReader(const Header& header, const std::vector<std::string_view>& cells)
      : header_(header), cells_(cells) {}

  Result<JobLine> read() {
    JobLine line;
    Job& job = line.job;
    TRY_ASSIGN(line.submitted,
               parsed(kSubmit, parse_submit, "seconds or a date such as 2026-11-16 08:00:00"));
    TRY_ASSIGN(job.duration, parsed(kDuration, parse_seconds, "seconds"));
    TRY(read_sizes(job));
    if (!text(kPriority).empty()) {
      TRY_ASSIGN(const std::int64_t priority,
                 integer(kPriority, std::numeric_limits<std::int32_t>::min(),
                         std::numeric_limits<std::int32_t>::max()));
      job.priority = static_cast<std::int32_t>(priority);
    }
    if (!text(kExpected).empty()) {
      TRY_ASSIGN(job.expected, parsed(kExpected, parse_seconds, "seconds"));
    }
    if (!text(kLimit).empty()) {
      TRY_ASSIGN(job.limit, parsed(kLimit, parse_seconds, "seconds"));
    }
    line.quota = text(kQuota).empty() ? text(kUser) : text(kQuota);
    job.id = std::string(text(kId));
    return line;
  }

 private:
  std::string_view text(Column column) const {
    return header_[column].exists() ? cells_[header_[column].cell] : std::string_view();
  }

  Error expected(Column column, const std::string& what) const {
    return invalid_argument("column " + header_[column].name + ": expected " + what + ", got " +
                            shown(text(column)));
  }

  template <typename Parse>
  Result<Duration> parsed(Column column, Parse parse, const char* what) const {
    const std::optional<Duration> value = parse(text(column));
    if (!value) {
      return fail(expected(column, what));
    }
    return *value;
  }

  Result<std::int64_t> integer(Column column, std::int64_t least, std::int64_t most) const {
    const std::string_view word = text(column);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < least || value > most) {
      return fail(expected(
          column, "a whole number from " + std::to_string(least) + " to " + std::to_string(most)));
    }
    return value;
  }

  Result<void> read_sizes(Job& job) const {
    bool per_pod = false;
    if (!text(kPods).empty()) {
      TRY_ASSIGN(job.pods, integer(kPods, 1, kPodsMax));
    }
    TRY(add(job.cpu, job, kCpu, kAllCpu, per_pod));
    TRY(add(job.memory, job, kMemory, kAllMemory, per_pod));
    TRY(add(job.gpu, job, kGpu, kAllGpu, per_pod));
    const bool whole =
        !text(kAllCpu).empty() || !text(kAllMemory).empty() || !text(kAllGpu).empty();
    if (job.pods == 0 && (per_pod || !whole)) {
      job.pods = 1;
    }
    return {};
  }

  // The amount of one pod, times the pods, or of all.
  Result<void> add(Amount& amount, const Job& job, Column each, Column all, bool& per_pod) const {
    const Column column = text(each).empty() ? all : each;
    if (text(column).empty()) {
      return {};
    }
    const std::optional<Amount> parsed_amount = parse_amount(text(column), header_[column].scale);
    const std::int64_t pods = column == each ? std::max<std::int64_t>(job.pods, 1) : 1;
    if (!parsed_amount || *parsed_amount > kAmountMax / pods) {
      return fail(expected(column, "an amount such as 4, 500m or 16Gi"));
    }
    amount = *parsed_amount * pods;
    per_pod = per_pod || column == each;
    return {};
  }

  const Header& header_;
  const std::vector<std::string_view>& cells_;
};

}  // namespace

Result<Trace> read_csv(std::string_view text, const TraceOptions& options) {
  TraceBuilder builder(options);
  Lines lines(text);
  CsvRow row;
  std::optional<Header> header;
  std::size_t columns = 0;
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    Result<void> split = row.split(line);
    if (!header) {
      // Without a header nothing can be read, so this is not one bad line among others.
      Result<Header> found =
          split ? read_header(row.cells(), builder.trace()) : fail(std::move(split).error());
      if (!found) {
        return fail(std::move(found).error().with_context(options.file + ":" +
                                                          std::to_string(lines.number())));
      }
      header = *std::move(found);
      columns = row.cells().size();
      continue;
    }
    if (split && row.cells().size() != columns) {
      split = fail(invalid_argument("expected " + std::to_string(columns) + " cells, got " +
                                    std::to_string(row.cells().size())));
    }
    Result<JobLine> job =
        split ? RowReader(*header, row.cells()).read() : fail(std::move(split).error());
    if (!job) {
      TRY(builder.bad(lines.number(), job.error().message));
      continue;
    }
    job->number = lines.number();
    TRY(builder.add(*std::move(job)));
  }
  if (!header) {
    return fail(invalid_argument(options.file + ": expected a header line, found nothing"));
  }
  return std::move(builder).finish();
}

}  // namespace codeflare::cli::simulate
