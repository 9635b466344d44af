#include "ray/package.h"

#include "base/env/link_target.h"
#include "base/split.h"
#include "ray/internal/package_hash.h"
#include "ray/internal/package_tree.h"
#include "ray/internal/package_uri.h"
#include "ray/internal/size_text.h"
#include "ray/zip_writer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::ray {

namespace {

using internal::last_name;
using internal::Sha1;
using internal::size_text;
using internal::TreeHash;
using Kind = PackageEntry::Kind;

constexpr std::size_t kLargestShown = 10;

std::string uri_of_hash(std::string_view hex, std::string_view extension) {
  return "gcs://_ray_pkg_" + std::string(hex) + std::string(extension);
}

// Where an entry is here. The one of a module is the module.
std::string full_path(const Package& package, const PackageEntry& entry) {
  const bool itself = entry.path == "." || package.kind == Package::Kind::module;
  return itself ? package.source : join_path(package.source, entry.path);
}

Error changed(const Package& package) {
  return conflict(package.source + " changed while it was packaged; retry");
}

// Only files have content that counts.
Result<std::string> content_of(FileSystem& files, const Package& package,
                               const PackageEntry& entry) {
  if (entry.kind != Kind::file) {
    return std::string();
  }
  Result<std::string> content = files.read(full_path(package, entry), entry.size);
  if (!content && (content.error().code == ErrorCode::too_large ||
                   content.error().code == ErrorCode::not_found)) {
    return fail(changed(package));
  }
  return content;
}

Result<std::string> hash_of(FileSystem& files, Package& package) {
  TreeHash hash;
  for (PackageEntry& entry : package.entries) {
    Result<std::string> content = content_of(files, package, entry);
    if (!content && content.error().code == ErrorCode::failed_precondition) {
      // At the end of a circle of links some files can be seen but not opened.
      entry.kind = Kind::missing;
      entry.size = 0;
      content = std::string();
    }
    TRY(content);
    hash.add(entry.path, *content);
  }
  return hash.hex();
}

bool larger(const PackageTooLarge::File& a, const PackageTooLarge::File& b) {
  return a.size != b.size ? a.size > b.size : a.path < b.path;
}

// The largest files, enough of them to get below the limit; then, when many small ones are the
// cause, the directories that hold most.
std::vector<std::string> ignore_advice(const Package& package,
                                       const std::vector<PackageTooLarge::File>& largest,
                                       std::uint64_t bytes_max) {
  std::vector<std::string> lines;
  std::uint64_t left = package.bytes;
  for (const PackageTooLarge::File& file : largest) {
    if (left <= bytes_max) {
      return lines;
    }
    lines.push_back("/" + file.path);
    left -= file.size;
  }
  std::vector<PackageTooLarge::File> tops;
  for (const PackageEntry& entry : package.entries) {
    if (const std::size_t slash = entry.path.find('/'); slash != std::string::npos) {
      const std::string top = entry.path.substr(0, slash);
      if (tops.empty() || tops.back().path != top) {
        tops.push_back({top, 0});
      }
      tops.back().size += entry.size;
    }
  }
  std::ranges::sort(tops, larger);
  if (left > bytes_max && !tops.empty()) {
    lines.push_back("/" + tops.front().path + "/");
  }
  return lines;
}

Error too_large_error(const Package& package, const PackageOptions& options) {
  const std::uint64_t bytes_max = options.bytes_max;
  auto detail = std::make_shared<PackageTooLarge>();
  detail->bytes = package.bytes;
  detail->bytes_max = bytes_max;
  for (const PackageEntry& entry : package.entries) {
    if (entry.kind == Kind::file) {
      detail->largest.push_back({entry.path, entry.size});
    }
  }
  std::ranges::sort(detail->largest, larger);
  detail->largest.resize(std::min(detail->largest.size(), kLargestShown));
  detail->advice = ignore_advice(package, detail->largest, bytes_max);
  std::string message = package.source + ": " + size_text(package.bytes) + " of files, " +
                        options.limit_words + " " + size_text(bytes_max);
  std::string_view separator = "; largest files: ";
  for (const PackageTooLarge::File& file : detail->largest) {
    message.append(separator).append(file.path).append(" (").append(size_text(file.size)) += ')';
    separator = ", ";
  }
  separator = "; add to .rayignore: ";
  for (const std::string& line : detail->advice) {
    message.append(separator).append(line);
    separator = ", ";
  }
  Error error = too_large(std::move(message));
  error.detail = std::move(detail);
  return error;
}

Result<void> check_size(Package& package, const PackageOptions& options) {
  for (const PackageEntry& entry : package.entries) {
    package.bytes += entry.size;
  }
  if (package.bytes > options.bytes_max) {
    return fail(too_large_error(package, options));
  }
  return {};
}

// A single file by its path.
Result<FileInfo> file_at(FileSystem& files, const std::string& path) {
  TRY_ASSIGN(const FileInfo info, target_info(files, path));
  if (info.type != FileInfo::Type::file) {
    return fail(invalid_argument(path + " is not a file"));
  }
  return info;
}

std::string archive_extension(const std::string& name) {
  if (name.ends_with(".tar.gz") || name.ends_with(".tgz")) {
    return ".tar.gz";
  }
  return name.ends_with(".tar.xz") ? ".tar.xz" : ".zip";
}

std::string hash_of_archive(const std::string& content) {
  const Sha1 digest = internal::sha1(content);
  return internal::to_hex(digest.data(), digest.size());
}

Result<std::string> zipped(FileSystem& files, const Package& package) {
  ZipWriter zip;
  TreeHash hash;
  for (const PackageEntry& entry : package.entries) {
    TRY_ASSIGN(const std::string content, content_of(files, package, entry));
    hash.add(entry.path, content);
    const std::string name =
        package.top_directory.empty() ? entry.path : package.top_directory + "/" + entry.path;
    if (entry.kind == Kind::file) {
      zip.add_file(name, content, entry.mode & 0777);
    } else if (entry.kind == Kind::empty_directory && entry.path != ".") {
      zip.add_directory(name, entry.mode & 0777);
    }
  }
  if (uri_of_hash(hash.hex(), ".zip") != package.uri) {
    return fail(changed(package));
  }
  return std::move(zip).finish();
}

}  // namespace

PackageOptions package_options(const Variables& variables, std::string base_directory) {
  PackageOptions options{.base_directory = std::move(base_directory)};
  options.honor_gitignore = variables.get("RAY_RUNTIME_ENV_IGNORE_GITIGNORE").value_or("0") != "1";
  if (const std::optional<std::string> list =
          variables.get("RAY_OVERRIDE_RUNTIME_ENV_DEFAULT_EXCLUDES")) {
    options.default_excludes.clear();
    for (std::string_view each : split(*list, ',')) {
      const std::size_t first = each.find_first_not_of(" \t\r\n");
      if (first != std::string_view::npos) {
        const std::size_t last = each.find_last_not_of(" \t\r\n");
        options.default_excludes.emplace_back(each.substr(first, last - first + 1));
      }
    }
  }
  return options;
}

Result<Package> package_directory(FileSystem& files, const std::string& directory,
                                  const std::vector<std::string>& excludes,
                                  const PackageOptions& options) {
  Package package{.source = join_path(options.base_directory, directory)};
  TRY_ASSIGN(const FileInfo info, target_info(files, package.source));
  if (info.type != FileInfo::Type::directory) {
    return fail(
        invalid_argument(package.source + " is not a directory; give the one that holds the code"));
  }
  TRY_ASSIGN(internal::PackageTree tree,
             internal::walk_tree(files, package.source, excludes, options.honor_gitignore));
  package.entries = std::move(tree.entries);
  package.all_excluded = tree.all_excluded;
  TRY(check_size(package, options));
  TRY_ASSIGN(const std::string hex, hash_of(files, package));
  package.uri = uri_of_hash(hex, ".zip");
  return package;
}

Result<Package> package_module(FileSystem& files, const std::string& file,
                               const PackageOptions& options) {
  Package package{.kind = Package::Kind::module, .source = join_path(options.base_directory, file)};
  TRY_ASSIGN(const FileInfo info, file_at(files, package.source));
  package.entries = {{.path = last_name(package.source), .size = info.size, .mode = info.mode}};
  TRY(check_size(package, options));
  TRY_ASSIGN(const std::string hex, hash_of(files, package));
  package.uri = uri_of_hash(hex, ".zip");
  return package;
}

Result<Package> package_archive(FileSystem& files, const std::string& file,
                                const PackageOptions& options) {
  Package package{.kind = Package::Kind::archive,
                  .source = join_path(options.base_directory, file)};
  TRY_ASSIGN(const FileInfo info, file_at(files, package.source));
  package.bytes = info.size;
  if (package.bytes > options.bytes_max) {
    return fail(too_large(package.source + ": " + size_text(package.bytes) +
                          ", Ray accepts packages of up to " + size_text(options.bytes_max)));
  }
  const std::string name = last_name(package.source);
  if (name.ends_with(".whl")) {
    package.uri = "gcs://" + name;
    return package;
  }
  TRY_ASSIGN(const std::string content, files.read(package.source, options.bytes_max));
  package.uri = uri_of_hash(hash_of_archive(content), archive_extension(name));
  return package;
}

Result<std::string> package_bytes(FileSystem& files, const Package& package) {
  if (package.kind != Package::Kind::archive) {
    return zipped(files, package);
  }
  TRY_ASSIGN(std::string content, files.read(package.source, kPackageBytesMax));
  const bool named_by_content = package.uri.starts_with("gcs://_ray_pkg_");
  if (named_by_content &&
      uri_of_hash(hash_of_archive(content), archive_extension(package.uri)) != package.uri) {
    return fail(changed(package));
  }
  return content;
}

}  // namespace codeflare::ray
