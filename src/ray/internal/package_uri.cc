#include "ray/internal/package_uri.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <string>

namespace codeflare::ray::internal {

namespace {

// Of Ray 2.60. `local` is a directory that every node has.
constexpr std::array<std::string_view, 9> kSchemes = {"gcs",   "http",  "https", "s3",   "gs",
                                                      "azure", "abfss", "file",  "local"};

std::string_view scheme_of(std::string_view uri) {
  return uri.substr(0, uri.find("://"));
}

// Neither query nor fragment.
std::string_view plain(std::string_view uri) {
  return uri.substr(0, uri.find_first_of("?#"));
}

}  // namespace

std::string last_name(const std::string& path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

bool is_uri(std::string_view text) {
  const std::string_view scheme = scheme_of(text);
  return scheme.size() < text.size() && !scheme.empty() &&
         std::ranges::all_of(
             scheme,
             [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '+' || c == '-' || c == '.';
             });
}

bool has_package_extension(std::string_view path, PackageField field) {
  if (field == PackageField::py_modules && path.ends_with(".whl")) {
    return true;
  }
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{".zip", ".tar.gz", ".tgz", ".tar.xz"},
      [&](std::string_view extension) { return path.ends_with(extension); });
}

Result<void> check_package_uri(std::string_view uri, PackageField field) {
  const std::string_view scheme = scheme_of(uri);
  // A query may hold a signature.
  const std::string shown(plain(uri));
  if (std::ranges::find(kSchemes, scheme) == kSchemes.end()) {
    std::string known;
    for (std::string_view each : kSchemes) {
      known.append(known.empty() ? "" : ", ").append(each);
    }
    return fail(invalid_argument(shown + ": unsupported scheme; Ray supports " + known));
  }
  if (scheme != "local" && !has_package_extension(plain(uri), field)) {
    return fail(
        invalid_argument(shown + ": must end with " +
                         (field == PackageField::py_modules ? ".whl, .zip, .tar.gz, .tgz or .tar.xz"
                                                            : ".zip, .tar.gz, .tgz or .tar.xz")));
  }
  return {};
}

}  // namespace codeflare::ray::internal
