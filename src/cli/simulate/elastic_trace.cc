#include "cli/simulate/elastic_trace.h"

#include "cli/simulate/internal/csv_row.h"
#include "cli/simulate/internal/trace_builder.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace codeflare::cli::simulate {

namespace {

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// Cells of one line by the name of their column.
class NamedCells {
 public:
  NamedCells(const std::map<std::string, std::size_t, std::less<>>& columns,
             const std::vector<std::string_view>& cells)
      : columns_(columns), cells_(cells) {}

  std::string_view operator[](std::string_view column) const {
    const auto found = columns_.find(column);
    const bool there = found != columns_.end() && found->second < cells_.size();
    return there ? cells_[found->second] : std::string_view();
  }

 private:
  const std::map<std::string, std::size_t, std::less<>>& columns_;
  const std::vector<std::string_view>& cells_;
};

Result<Training> read_training(const NamedCells& cells, const Applications& applications) {
  constexpr std::int64_t kPodsMax = 1'000'000;
  Training training;
  training.id = std::string(cells["name"]);
  const auto submitted = parse_seconds(cells["time"]);
  if (!submitted) {
    return fail(invalid_argument("time: expected seconds, got " + shown(cells["time"])));
  }
  training.submitted = *submitted;
  const auto application = applications.find(std::string(cells["application"]));
  if (application == applications.end()) {
    return fail(invalid_argument("application " + shown(cells["application"]) +
                                 " has no folder with speeds"));
  }
  training.application = &application->second;
  const auto requested = integer(cells["num_replicas"]);
  const auto batch = integer(cells["batch_size"]);
  if (!requested || *requested < 1 || *requested > kPodsMax) {
    return fail(invalid_argument("num_replicas: expected a number from 1 on, got " +
                                 shown(cells["num_replicas"])));
  }
  training.requested = *requested;
  training.iterations = static_cast<double>(batch ? training.application->iterations(*batch) : 0);
  if (training.iterations < 1) {
    return fail(invalid_argument("batch_size " + shown(cells["batch_size"]) +
                                 " was not measured: " + application->first + "/validation-" +
                                 std::string(cells["batch_size"]) + ".csv is missing"));
  }
  training.batch = *batch;
  if (const auto priority = cells["priority"]; !priority.empty()) {
    const auto value = integer(priority);
    if (!value || *value < -1'000'000'000 || *value > 1'000'000'000) {
      return fail(invalid_argument("priority: expected a number, got " + shown(priority)));
    }
    training.priority = static_cast<std::int32_t>(*value);
  }
  // One that asks for a single pod does not scale: nobody has measured otherwise.
  training.size_max = training.requested == 1 ? 1 : training.application->pods_max(training.batch);
  return training;
}

}  // namespace

Result<std::vector<Training>> read_trainings(std::string_view text, const std::string& file,
                                             const Applications& applications) {
  std::vector<Training> all;
  std::map<std::string, std::size_t, std::less<>> columns;
  Lines lines(text);
  CsvRow row;
  const auto wrong = [&](const std::string& what) {
    return fail(invalid_argument(file + ":" + std::to_string(lines.number()) + ": " + what));
  };
  while (lines.next()) {
    if (trim(lines.line()).empty() || lines.line().starts_with('#')) {
      continue;
    }
    if (auto done = row.split(lines.line()); !done) {
      return wrong(done.error().message);
    }
    if (columns.empty()) {
      for (std::size_t i = 0; i < row.cells().size(); ++i) {
        columns.emplace(row.cells()[i], i);
      }
      for (const char* needed : {"name", "time", "application", "num_replicas", "batch_size"}) {
        if (!columns.contains(needed)) {
          return wrong("no column " + std::string(needed));
        }
      }
      continue;
    }
    auto training = read_training(NamedCells(columns, row.cells()), applications);
    if (!training) {
      return wrong(training.error().message);
    }
    all.push_back(std::move(*training));
  }
  if (all.empty()) {
    return fail(invalid_argument(file + ": holds no training"));
  }
  std::ranges::sort(all, {},
                    [](const Training& each) { return std::pair(each.submitted, each.id); });
  return all;
}

}  // namespace codeflare::cli::simulate
