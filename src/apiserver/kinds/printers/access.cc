#include "apiserver/kinds/printers.h"
#include "apiserver/kinds/printers/row.h"
#include "base/human_duration.h"

#include <algorithm>
#include <limits>

namespace codeflare::apiserver::printing {
namespace {

// The names of the subjects of one kind; service accounts with their namespace.
std::string subjects(const json::Value& binding, std::string_view kind) {
  std::vector<std::string> out;
  for (const json::Value& subject : items_at(binding, "subjects")) {
    if (text_at(subject, "kind") == kind) {
      std::string name(text_at(subject, "name"));
      out.push_back(kind == "ServiceAccount"
                        ? std::string(text_at(subject, "namespace")) + "/" + name
                        : name);
    }
  }
  return join(out, ", ");
}

void print_binding(Row& row) {
  const json::Value& role = object_at(row.object, "roleRef");
  row.name()
      .text(std::string(text_at(role, "kind")) + "/" + std::string(text_at(role, "name")))
      .age()
      .text(subjects(row.object, "User"))
      .text(subjects(row.object, "Group"))
      .text(subjects(row.object, "ServiceAccount"));
}

std::string request_state(const json::Value& status) {
  std::string out = condition(status, "Denied") != nullptr     ? "Denied"
                    : condition(status, "Approved") != nullptr ? "Approved"
                                                               : "Pending";
  if (condition(status, "Failed") != nullptr) {
    out += ",Failed";
  }
  return text_at(status, "certificate").empty() ? out : out + ",Issued";
}

void print_signing_request(Row& row) {
  std::string lifetime(kNone);
  if (std::optional<std::int64_t> seconds = integer_at(row.spec, "expirationSeconds")) {
    // Anything beyond what the field can hold would not fit into a Duration.
    lifetime = human_duration(std::chrono::seconds(
        std::clamp<std::int64_t>(*seconds, std::numeric_limits<std::int32_t>::min(),
                                 std::numeric_limits<std::int32_t>::max())));
  }
  row.name()
      .age()
      .text_or(text_at(row.spec, "signerName"), kNone)
      .text(text_at(row.spec, "username"))
      .text(lifetime)
      .text(request_state(row.status));
}

std::vector<Column> binding_columns() {
  return {name_column(),        text_column("Role"),   age_column(),
          wide_column("Users"), wide_column("Groups"), wide_column("ServiceAccounts")};
}

}  // namespace

std::vector<KindPrinter> access_printers() {
  constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
  return {
      {.group = kRbac, .plural = "roles", .columns = creation_columns(), .print = print_creation},
      {.group = kRbac,
       .plural = "clusterroles",
       .columns = creation_columns(),
       .print = print_creation},
      {.group = kRbac,
       .plural = "rolebindings",
       .columns = binding_columns(),
       .print = print_binding},
      {.group = kRbac,
       .plural = "clusterrolebindings",
       .columns = binding_columns(),
       .print = print_binding},
      {.group = "certificates.k8s.io",
       .plural = "certificatesigningrequests",
       .columns = {name_column(), age_column(), text_column("SignerName"), text_column("Requestor"),
                   text_column("RequestedDuration"), text_column("Condition")},
       .print = print_signing_request},
  };
}

}  // namespace codeflare::apiserver::printing
