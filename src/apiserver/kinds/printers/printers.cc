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

}  // namespace

std::shared_ptr<const TablePrinter> builtin_printer(std::string_view group,
                                                    std::string_view version,
                                                    std::string_view plural) {
  static const std::vector<std::shared_ptr<const BuiltinPrinter>> kPrinters = all_printers();
  auto found = std::ranges::find_if(
      kPrinters, [&](const auto& printer) { return printer->prints(group, version, plural); });
  return found == kPrinters.end() ? nullptr : *found;
}

}  // namespace codeflare::apiserver
