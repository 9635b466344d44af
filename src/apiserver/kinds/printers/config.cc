#include "apiserver/kinds/printers/row.h"

#include <algorithm>

namespace codeflare::apiserver::printing {
namespace {

void print_config_map(Row& row) {
  row.name()
      .integer(static_cast<std::int64_t>(size_at(row.object, "data") +
                                         size_at(row.object, "binaryData")))
      .age();
}

void print_secret(Row& row) {
  row.name()
      .text_or(text_at(row.object, "type"), "Opaque")
      .integer(static_cast<std::int64_t>(size_at(row.object, "data")))
      .age();
}

void print_service_account(Row& row) {
  row.name().integer(static_cast<std::int64_t>(size_at(row.object, "secrets"))).age();
}

void print_quota(Row& row) {
  const json::Value& hard = object_at(row.status, "hard");
  const json::Value& used = object_at(row.status, "used");
  std::vector<std::string_view> names;
  for (const json::Member& resource : hard.members()) {
    names.push_back(resource.key);
  }
  std::ranges::sort(names);
  std::vector<std::string> requests;
  std::vector<std::string> limits;
  for (std::string_view name : names) {
    (name.starts_with("limits.") ? limits : requests)
        .push_back(std::string(name) + ": " + quantity_at(used, name) + "/" +
                   quantity_at(hard, name));
  }
  row.name().text(join(requests, ", ")).text(join(limits, ", ")).age();
}

}  // namespace

std::vector<KindPrinter> config_printers() {
  return {
      {.group = "",
       .plural = "configmaps",
       .columns = {name_column(), text_column("Data"), age_column()},
       .print = print_config_map},
      {.group = "",
       .plural = "secrets",
       .columns = {name_column(), text_column("Type"), text_column("Data"), age_column()},
       .print = print_secret},
      {.group = "",
       .plural = "serviceaccounts",
       .columns = {name_column(), text_column("Secrets"), age_column()},
       .print = print_service_account},
      {.group = "",
       .plural = "resourcequotas",
       .columns = {name_column(), text_column("Request"), text_column("Limit"), age_column()},
       .print = print_quota},
      {.group = "",
       .plural = "limitranges",
       .columns = creation_columns(),
       .print = print_creation},
  };
}

}  // namespace codeflare::apiserver::printing
