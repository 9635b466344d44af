#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::ray::internal {

// Fields of a runtime environment that name packages.
enum class PackageField : std::uint8_t { working_dir, py_modules };

// "b" of "/a/b", of "/a/b/" and of "/a/c/../b".
std::string last_name(const std::string& path);

// "scheme://..."; anything else is a path.
bool is_uri(std::string_view text);
bool has_package_extension(std::string_view path, PackageField field);
// Whether a cluster can fetch it: a scheme that Ray knows and a kind of file that the field takes.
Result<void> check_package_uri(std::string_view uri, PackageField field);

}  // namespace codeflare::ray::internal
