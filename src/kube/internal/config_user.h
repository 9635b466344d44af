#pragma once

#include "base/result.h"
#include "kube/config.h"
#include "kube/internal/config_pem.h"
#include "kube/internal/config_reader.h"
#include "kube/internal/config_text.h"

#include <string>
#include <string_view>

namespace codeflare::kube::internal {

// One thing in PEM that may be given as a file or inline: "client-key" and "client-key-data".
struct PemField {
  std::string_view name;
  std::string_view file;
  std::string_view data;

  bool given() const { return !file.empty() || !data.empty(); }
  // The "-data" one also when neither is.
  std::string given_name() const { return std::string(name) + (file.empty() ? "-data" : ""); }
};

// `client-key of user "jane" in /home/me/.kube/config`.
template <typename Entry>
std::string origin_of(std::string_view field, std::string_view kind, const Entry& entry) {
  return std::string(field) + " of " + std::string(kind) + " " + quoted(entry.name) + " in " +
         one_line(entry.place.file);
}

// The PEM text; empty when the field is not given.
Result<std::string> read_pem(FileSystem& files, const ConfigPlace& place, const PemField& field,
                             PemKind kind);

// Our identity: checks the user entry and fills auth, impersonation and the client certificate,
// each with its origin.
Result<void> resolve_user(FileSystem& files, const UserEntry& user, Config& config);

// A token as it goes into the header: white space around it is dropped; fails when empty or with
// characters that no header can carry.
Result<Secret> clean_token(std::string_view text);

// Free of control characters, so that it cannot break out of a header line.
bool fits_header(std::string_view text);

}  // namespace codeflare::kube::internal
