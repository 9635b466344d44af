#pragma once

#include "base/env/env.h"
#include "base/env/file_system.h"
#include "base/error.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::ray {

// The limit of Ray's dashboard for one request. Ray itself does not compress its packages, so this
// counts the files' own bytes.
inline constexpr std::uint64_t kPackageBytesMax = std::uint64_t{100} << 20;

struct PackageOptions {
  // Relative paths count from here; absolute.
  std::string base_directory = "/";
  bool honor_gitignore = true;
  // Of a working directory, before its own `excludes`.
  std::vector<std::string> default_excludes = {".git", ".venv", "venv", "__pycache__"};
  std::uint64_t bytes_max = kPackageBytesMax;
  // Before the limit in the error about a package beyond it.
  std::string limit_words = "Ray accepts packages of up to";
};
// With what Ray's environment variables say: RAY_RUNTIME_ENV_IGNORE_GITIGNORE=1 and
// RAY_OVERRIDE_RUNTIME_ENV_DEFAULT_EXCLUDES.
PackageOptions package_options(const Variables& variables, std::string base_directory);

// One file or directory of a package.
struct PackageEntry {
  enum class Kind : std::uint8_t {
    file,
    directory,
    empty_directory,
    missing,  // a link to nothing, a socket, a pipe: its name counts, but it is not packed
  };
  std::string path;  // relative to the package's root, "." for the root
  Kind kind = Kind::file;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
};

// Files that shall be on the cluster, named by their content as Ray names them.
struct Package {
  enum class Kind : std::uint8_t {
    tree,     // of a directory: zipped when it is needed
    module,   // one Python file: zipped too
    archive,  // is a package already: sent as it is
  };
  Kind kind = Kind::tree;
  std::string uri;     // gcs://_ray_pkg_0123456789abcdef.zip
  std::string source;  // where it is here
  // Name of the directory inside the zip that holds the files; empty: none.
  std::string top_directory;
  std::vector<PackageEntry> entries;  // sorted by path; of an archive none
  std::uint64_t bytes = 0;            // of all files
  // The directory's own ignore file leaves out everything.
  bool all_excluded = false;
};

// Facts about a package that is too large: detail of a too_large error.
class PackageTooLarge final : public ErrorDetail {
 public:
  struct File {
    std::string path;
    std::uint64_t size = 0;
  };
  std::uint64_t bytes = 0;
  std::uint64_t bytes_max = 0;
  std::vector<File> largest{};  // at most ten, largest first
  // Lines for .rayignore that bring the package below the limit.
  std::vector<std::string> advice{};
};

// Each reads files and blocks: call it through run_blocking. Nothing is read of a package that is
// too large.

// `excludes` are patterns beside those of ignore files.
Result<Package> package_directory(FileSystem& files, const std::string& directory,
                                  const std::vector<std::string>& excludes,
                                  const PackageOptions& options);
Result<Package> package_module(FileSystem& files, const std::string& file,
                               const PackageOptions& options);
// A wheel keeps its name.
Result<Package> package_archive(FileSystem& files, const std::string& file,
                                const PackageOptions& options);

// The bytes of a package. Fails with `conflict` when the files have changed since the package was
// named: under that name other clients would get the wrong files.
Result<std::string> package_bytes(FileSystem& files, const Package& package);

}  // namespace codeflare::ray
