#include "app/flags/usage_flags.h"

#include "app/flags/edition.h"
#include "base/base64.h"
#include "net/url.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <utility>

namespace codeflare {

namespace {

constexpr const char* kLicence = "LATTICE_LICENSE";
constexpr std::size_t kPublicKeyBytes = 32;

std::string or_else(const std::string& given, std::string_view fallback) {
  return given.empty() ? std::string(fallback) : given;
}

Result<std::string> checked_url(const std::string& flag, std::string url) {
  if (!url.empty()) {
    if (Result<net::Url> parsed = net::parse_url(url); !parsed) {
      return fail(std::move(parsed).error().with_context(flag));
    }
  }
  return url;
}

Result<std::string> public_key(const std::string& text) {
  const Result<std::string> key = from_base64(text);
  if (!text.empty() && (!key || key->size() != kPublicKeyBytes)) {
    return fail(invalid_argument(
        "--license-public-key: not the base64 text of an Ed25519 public key of 32 bytes"));
  }
  return key ? *key : std::string();
}

}  // namespace

void add_usage_flags(CLI::App& role, UsageFlags& flags) {
  const auto add = [&](const char* flag, std::string& value, const char* help, const char* variable,
                       const char* type) {
    role.add_option(flag, value, help)->envname(variable)->type_name(type);
  };
  role.add_flag("--no-usage", flags.off,
                "do not count what TrainingJobs use; their pods get no finalizer");
  add("--license-file", flags.licence_file,
      "file with a licence key or an offline licence, instead of LATTICE_LICENSE (release edition)",
      "LATTICE_LICENSE_FILE", "FILE");
  add("--license-endpoint", flags.licence_url,
      "URL of the licence service (release edition; default: that of build/config.yaml)",
      "LATTICE_LICENSE_ENDPOINT", "URL");
  role.add_option("--license-store", flags.licence_store,
                  "store that a licence key must belong to (release edition)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("ID");
  role.add_option("--license-product", flags.licence_product,
                  "product that a licence key must belong to (release edition)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("ID");
  add("--license-public-key", flags.licence_public_key,
      "base64 of the Ed25519 public key of offline licences (release edition)",
      "LATTICE_LICENSE_PUBLIC_KEY", "KEY");
  add("--usage-endpoint", flags.url,
      "Prometheus remote-write URL that usage is pushed to (release edition; default: none)",
      "USAGE_ENDPOINT", "URL");
  add("--usage-user", flags.user,
      "user of the remote-write endpoint; without one the password is a bearer token", "USAGE_USER",
      "NAME");
  add("--usage-password-file", flags.password_file,
      "file with the password or token of the remote-write endpoint, read again for each push",
      "USAGE_PASSWORD_FILE", "FILE");
  role.add_option("--usage-interval", flags.every_seconds, "seconds between two pushes of usage")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400}))
      ->type_name("SECONDS")
      ->capture_default_str();
  add("--cluster-id", flags.cluster,
      "label cluster of pushed usage (default: UID of the namespace kube-system)", "CLUSTER_ID",
      "ID");
  add("--customer-id", flags.customer,
      "label customer of pushed usage (default: a hash of the licence)", "CUSTOMER_ID", "ID");
}

Result<std::optional<controllers::metering::ReleaseSettings>> release_settings(
    Env env, const UsageFlags& flags, std::string ns, const Logger& logger) {
  std::string licence = env.variables.get(kLicence).value_or("");
  if (!edition().release) {
    if (!flags.url.empty()) {
      logger.warn("--usage-endpoint has no effect: this edition pushes nothing",
                  {{"edition", edition().name}, {"instead", "make manager-release"}});
    }
    if (!licence.empty() || !flags.licence_file.empty()) {
      logger.info("LATTICE_LICENSE has no effect: this edition checks no licence",
                  {{"edition", edition().name}});
    }
    return std::nullopt;
  }
  controllers::metering::ReleaseSettings settings;
  settings.licence = Secret(std::move(licence));
  settings.licence_file = flags.licence_file;
  TRY_ASSIGN(settings.licence_url,
             checked_url("--license-endpoint", or_else(flags.licence_url, edition().licence_url)));
  settings.ids.store = flags.licence_store == 0 ? edition().licence_store : flags.licence_store;
  settings.ids.product =
      flags.licence_product == 0 ? edition().licence_product : flags.licence_product;
  TRY_ASSIGN(settings.public_key,
             public_key(or_else(flags.licence_public_key, edition().licence_public_key)));
  settings.ns = std::move(ns);
  TRY_ASSIGN(settings.push_url,
             checked_url("--usage-endpoint", or_else(flags.url, edition().usage_url)));
  settings.push_user = or_else(flags.user, edition().usage_user);
  settings.push_password_file = flags.password_file;
  settings.push_password = Secret(std::string(edition().usage_password));
  settings.cluster = flags.cluster;
  settings.customer = flags.customer;
  settings.push_every = std::chrono::seconds(flags.every_seconds);
  return settings;
}

}  // namespace codeflare
