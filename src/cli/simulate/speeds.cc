#include "cli/simulate/speeds.h"

#include "cli/simulate/internal/csv_row.h"
#include "cli/simulate/internal/trace_builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace codeflare::cli::simulate {

namespace {

constexpr std::int64_t kSizeMax = 1'000'000;

Error wrong(const std::string& file, std::size_t line, const std::string& what) {
  return invalid_argument(file + ":" + std::to_string(line) + ": " + what);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> count(std::string_view text) {
  const std::optional<double> value = number(text);
  if (!value || *value < 1 || *value > 1e15 || *value != std::floor(*value)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

// Lines of a table with these columns, each line as the cells of them.
template <typename Visit>
Result<void> each_line(std::string_view text, const std::string& file,
                       const std::vector<std::string_view>& columns, Visit&& visit) {
  Lines lines(text);
  CsvRow row;
  std::vector<std::size_t> places;
  while (lines.next()) {
    if (trim(lines.line()).empty()) {
      continue;
    }
    if (auto done = row.split(lines.line()); !done) {
      return fail(wrong(file, lines.number(), done.error().message));
    }
    if (places.empty()) {
      for (const std::string_view column : columns) {
        const auto found = std::ranges::find(row.cells(), column);
        if (found == row.cells().end()) {
          return fail(wrong(file, lines.number(), "no column " + std::string(column)));
        }
        places.push_back(static_cast<std::size_t>(found - row.cells().begin()));
      }
      continue;
    }
    std::vector<std::string_view> cells;
    for (const std::size_t place : places) {
      cells.push_back(place < row.cells().size() ? row.cells()[place] : std::string_view());
    }
    if (auto done = visit(cells); !done) {
      return fail(wrong(file, lines.number(), done.error().message));
    }
  }
  return {};
}

// "31": two nodes, four pods.
std::optional<std::pair<std::int64_t, std::int64_t>> nodes_and_pods(std::string_view placement) {
  std::int64_t pods = 0;
  for (const char digit : placement) {
    if (digit < '1' || digit > '9') {
      return std::nullopt;
    }
    pods += digit - '0';
  }
  if (placement.empty() || placement.size() > 64) {
    return std::nullopt;
  }
  return std::pair(static_cast<std::int64_t>(placement.size()), pods);
}

// The entries around the key, the same twice at the ends; and how far it is between them.
template <typename Value>
std::tuple<const Value*, const Value*, double> around(const std::map<std::int64_t, Value>& all,
                                                      double key) {
  const auto above = all.lower_bound(static_cast<std::int64_t>(std::ceil(key)));
  if (above == all.begin()) {
    return {&above->second, &above->second, 0};
  }
  const auto below = std::prev(above);
  if (above == all.end()) {
    return {&below->second, &below->second, 0};
  }
  const auto low = static_cast<double>(below->first);
  const auto high = static_cast<double>(above->first);
  return {&below->second, &above->second, std::clamp((key - low) / (high - low), 0.0, 1.0)};
}

}  // namespace

Result<void> Application::read(std::string_view text, const std::string& file, bool by_placement) {
  std::vector<std::string_view> columns{"local_bsz", "step_time", "sync_time"};
  if (by_placement) {
    columns.push_back("placement");
  } else {
    columns.insert(columns.end(), {"num_nodes", "num_replicas"});
  }
  return each_line(text, file, columns, [&](const auto& cells) -> Result<void> {
    const auto local = count(cells[0]);
    const auto step = number(cells[1]);
    const auto sync = number(cells[2]);
    if (!local || *local > kSizeMax || !step || *step <= 0 || !sync) {
      return fail(invalid_argument("expected a local batch and two times"));
    }
    std::optional<std::pair<std::int64_t, std::int64_t>> at;
    if (by_placement) {
      at = nodes_and_pods(cells[3]);
    } else if (const auto nodes = count(cells[3]), pods = count(cells[4]); nodes && pods) {
      at = std::pair(*nodes, *pods);
    }
    if (!at || at->first > kSizeMax || at->second > kSizeMax) {
      return fail(invalid_argument("expected a placement such as 31, got " + shown(cells[3])));
    }
    Sample& sample = measured_[at->first][at->second][*local];
    sample.step += *step;
    sample.sync += *sync;
    sample.count += 1;
    return {};
  });
}

Result<void> Application::read_placements(std::string_view text, const std::string& file) {
  TRY(read(text, file, true));
  if (measured_.empty()) {
    return fail(invalid_argument(file + ": holds no measurement"));
  }
  return {};
}

Result<void> Application::read_scalability(std::string_view text, const std::string& file) {
  return read(text, file, false);
}

Result<void> Application::read_validation(std::int64_t batch, std::string_view text,
                                          const std::string& file) {
  std::int64_t last = 0;
  TRY(each_line(text, file, {"iteration"}, [&](const auto& cells) -> Result<void> {
    const auto iteration = count(cells[0]);
    if (!iteration) {
      return fail(invalid_argument("expected an iteration, got " + shown(cells[0])));
    }
    last = std::max(last, *iteration);
    return {};
  }));
  if (last == 0) {
    return fail(invalid_argument(file + ": holds no iteration"));
  }
  iterations_[batch] = last;
  return {};
}

std::int64_t Application::iterations(std::int64_t batch) const {
  const auto found = iterations_.find(batch);
  return found == iterations_.end() ? 0 : found->second;
}

std::vector<std::int64_t> Application::batches() const {
  std::vector<std::int64_t> all;
  for (const auto& [batch, iterations] : iterations_) {
    all.push_back(batch);
  }
  return all;
}

Application::Sample Application::at(const BySize& samples, double local) const {
  const auto [low, high, part] = around(samples, local);
  const auto mix = [&](double Sample::* field) {
    return low->*field / low->count * (1 - part) + high->*field / high->count * part;
  };
  return {mix(&Sample::step), mix(&Sample::sync), 1};
}

Application::Sample Application::at_nodes(std::int64_t nodes, std::int64_t pods,
                                          double local) const {
  const auto [low, high, part] = around(measured_.at(nodes), static_cast<double>(pods));
  const Sample a = at(*low, local);
  const Sample b = at(*high, local);
  return {a.step * (1 - part) + b.step * part, a.sync * (1 - part) + b.sync * part, 1};
}

Application::Sample Application::lookup(std::int64_t nodes, std::int64_t pods, double local) const {
  auto above = measured_.lower_bound(nodes);
  if (above == measured_.end()) {
    --above;
  }
  if (above->first == nodes || above == measured_.begin()) {
    return at_nodes(above->first, pods, local);
  }
  const auto below = std::prev(above);
  const double part = std::clamp(
      static_cast<double>(nodes - below->first) / static_cast<double>(above->first - below->first),
      0.0, 1.0);
  const Sample a = at_nodes(below->first, pods, local);
  const Sample b = at_nodes(above->first, pods, local);
  return {a.step * (1 - part) + b.step * part, a.sync * (1 - part) + b.sync * part, 1};
}

double Application::iteration_seconds(std::int64_t nodes, std::int64_t pods,
                                      std::int64_t batch) const {
  const BySize& alone = measured_.begin()->second.begin()->second;
  const std::int64_t most = local_max_ > 0 ? local_max_ : alone.rbegin()->first;
  const double local = std::ceil(static_cast<double>(batch) / static_cast<double>(pods));
  // Batches that do not fit at once are accumulated; only the last part is exchanged.
  const double parts = std::ceil(local / static_cast<double>(most));
  const Sample sample = lookup(nodes, pods, std::ceil(local / parts));
  return (parts - 1) * std::max(0.0, sample.step - sample.sync) + sample.step;
}

std::int64_t Application::pods_max(std::int64_t batch) const {
  const std::int64_t least = measured_.begin()->second.begin()->second.begin()->first;
  return std::max<std::int64_t>(1, batch / least);
}

Result<Applications> read_applications(FileSystem& files, const std::string& directory) {
  Applications all;
  TRY_ASSIGN(const std::vector<std::string> names, files.list(directory));
  for (const std::string& name : names) {
    const std::string folder = join_path(directory, name);
    const std::string placements = join_path(folder, "placements.csv");
    if (!files.exists(placements)) {
      continue;
    }
    Application& application = all[name];
    TRY_ASSIGN(const std::string text, files.read(placements));
    TRY(application.read_placements(text, placements));
    const std::string scalability = join_path(folder, "scalability.csv");
    if (files.exists(scalability)) {
      TRY_ASSIGN(const std::string more, files.read(scalability));
      TRY(application.read_scalability(more, scalability));
    }
    // The artifact's own limit: larger ones were measured but do not fit into its GPUs.
    if (name == "yolov3") {
      application.set_local_batch_max(8);
    }
    TRY_ASSIGN(const std::vector<std::string> entries, files.list(folder));
    for (const std::string& entry : entries) {
      constexpr std::string_view kPrefix = "validation-";
      if (!entry.starts_with(kPrefix) || !entry.ends_with(".csv")) {
        continue;
      }
      const auto batch =
          count(std::string_view(entry).substr(kPrefix.size(), entry.size() - kPrefix.size() - 4));
      if (!batch) {
        continue;
      }
      const std::string path = join_path(folder, entry);
      TRY_ASSIGN(const std::string curve, files.read(path));
      TRY(application.read_validation(*batch, curve, path));
    }
  }
  if (all.empty()) {
    return fail(invalid_argument(directory + ": no folder in it has a placements.csv"));
  }
  return all;
}

}  // namespace codeflare::cli::simulate
