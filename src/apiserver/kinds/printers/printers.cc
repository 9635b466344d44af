#include "apiserver/kinds/printers.h"

#include "apiserver/kinds/printers/row.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver {
namespace {

using printing::KindPrinter;

class BuiltinPrinter final : public TablePrinter {
 public:
  explicit BuiltinPrinter(KindPrinter kind) : kind_(std::move(kind)) {}

  bool prints(std::string_view group, std::string_view version, std::string_view plural) const {
    return kind_.group == group && kind_.plural == plural &&
           (kind_.version.empty() || kind_.version == version);
  }
  const std::vector<Column>& columns() const override { return kind_.columns; }
  void print(const json::Value& object, WallTime now, json::Arena& arena,
             json::Value& cells) const override {
    printing::Row row(object, now, arena, cells);
    kind_.print(row);
  }

 private:
  KindPrinter kind_;
};

std::vector<std::shared_ptr<const BuiltinPrinter>> all_printers() {
  using Family = std::vector<KindPrinter> (*)();
  constexpr Family kFamilies[] = {
      printing::pod_printers,       printing::workload_printers, printing::autoscaler_printers,
      printing::cluster_printers,   printing::event_printers,    printing::config_printers,
      printing::network_printers,   printing::storage_printers,  printing::access_printers,
      printing::admission_printers,
  };
  std::vector<std::shared_ptr<const BuiltinPrinter>> out;
  for (Family family : kFamilies) {
    for (KindPrinter& kind : family()) {
      out.push_back(std::make_shared<const BuiltinPrinter>(std::move(kind)));
    }
  }
  return out;
}

// "3h7m", "3h" when the smaller part is nothing.
std::string two_units(std::int64_t big, char big_unit, std::int64_t small, char small_unit) {
  std::string out = std::to_string(big) + big_unit;
  if (small != 0) {
    out += std::to_string(small) + small_unit;
  }
  return out;
}

}  // namespace

std::shared_ptr<const TablePrinter> builtin_printer(std::string_view group,
                                                    std::string_view version,
                                                    std::string_view plural) {
  static const std::vector<std::shared_ptr<const BuiltinPrinter>> kPrinters = all_printers();
  auto found = std::ranges::find_if(
      kPrinters, [&](const auto& printer) { return printer->prints(group, version, plural); });
  return found == kPrinters.end() ? nullptr : *found;
}

std::string human_duration(Duration duration) {
  using std::to_string;
  const std::int64_t seconds = duration / std::chrono::seconds(1);
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  if (seconds < -1) {
    return "<invalid>";
  }
  if (seconds < 2 * 60) {
    return to_string(seconds < 0 ? 0 : seconds) + "s";
  }
  if (minutes < 10) {
    return two_units(minutes, 'm', seconds % 60, 's');
  }
  if (minutes < 3 * 60) {
    return to_string(minutes) + "m";
  }
  if (hours < 8) {
    return two_units(hours, 'h', minutes % 60, 'm');
  }
  if (hours < 2 * 24) {
    return to_string(hours) + "h";
  }
  if (days < 8) {
    return two_units(days, 'd', hours % 24, 'h');
  }
  if (days < 2 * 365) {
    return to_string(days) + "d";
  }
  return two_units(days / 365, 'y', days < 8 * 365 ? days % 365 : 0, 'd');
}

}  // namespace codeflare::apiserver
