#include "node/system/host_path.h"

#include <algorithm>
#include <optional>

namespace codeflare::node {

namespace {

using Type = FileInfo::Type;

constexpr std::uint32_t kDirectoryMode = 0755;
constexpr std::uint32_t kFileMode = 0644;

Error wrong_type(const std::string& path, std::string_view what) {
  return failed_precondition("hostPath type check failed: " + path + " is not " +
                             std::string(what));
}

// Of what is there; nothing when it is not.
Result<std::optional<Type>> type_at(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  if (info) {
    return info->type;
  }
  if (info.error().code == ErrorCode::not_found) {
    return std::nullopt;
  }
  return fail(info.error());
}

Result<void> refuse_links(FileSystem& files, const std::string& path) {
  for (std::size_t end = 0; end != path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    TRY_ASSIGN(const std::optional<Type> type, type_at(files, part));
    if (type == Type::link) {
      return fail(permission_denied("hostPath " + path + ": " + part +
                                    " is a link; name the place it points to"));
    }
    if (!type) {
      return {};
    }
  }
  return {};
}

}  // namespace

bool is_plain_path(std::string_view path) {
  if (!path.starts_with('/')) {
    return false;
  }
  for (std::string_view rest = path; !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part == "." || part == ".." || (part.empty() && !rest.empty())) {
      return false;
    }
    rest.remove_prefix(part.size());
  }
  return true;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() < 254 && name.find('/') == std::string_view::npos &&
         name != "." && name != "..";
}

bool is_within(std::string_view path, std::string_view directory) {
  while (directory.size() > 1 && directory.ends_with('/')) {
    directory.remove_suffix(1);
  }
  return directory == "/" || path == directory ||
         (!directory.empty() && path.starts_with(directory) &&
          path.substr(directory.size()).starts_with('/'));
}

Result<void> host_path_allowed(const std::string& path, const std::vector<std::string>& allowed) {
  if (!is_plain_path(path)) {
    return fail(invalid_argument("hostPath \"" + path + "\" is not a plain absolute path"));
  }
  const bool inside = std::ranges::any_of(
      allowed, [&](const std::string& directory) { return is_within(path, directory); });
  if (!inside) {
    return fail(permission_denied(
        "hostPath \"" + path +
        "\" is not offered by this node: start it with --allow-host-path and a directory that "
        "holds it"));
  }
  return {};
}

Result<void> prepare_host_path(FileSystem& files, const std::string& path, std::string_view type) {
  TRY(refuse_links(files, path));
  TRY_ASSIGN(const std::optional<Type> found, type_at(files, path));
  if (type.empty() || type == "DirectoryOrCreate") {
    if (!found) {
      return files.make_directories(path, kDirectoryMode);
    }
    return type.empty() || found == Type::directory ? Result<void>()
                                                    : fail(wrong_type(path, "a directory"));
  }
  if (type == "FileOrCreate" && !found) {
    return files.create(path, kFileMode);
  }
  struct Rule {
    std::string_view type;
    Type wanted;
    std::string_view what;
  };
  static constexpr Rule kRules[] = {
      {"Directory", Type::directory, "a directory"},
      {"File", Type::file, "a file"},
      {"FileOrCreate", Type::file, "a file"},
      {"Socket", Type::other, "a socket file"},
      {"CharDevice", Type::other, "a character device"},
      {"BlockDevice", Type::other, "a block device"},
  };
  const auto rule = std::ranges::find(kRules, type, &Rule::type);
  if (rule == std::ranges::end(kRules)) {
    return fail(invalid_argument("hostPath type \"" + std::string(type) + "\" is not known"));
  }
  return found == rule->wanted ? Result<void>() : fail(wrong_type(path, rule->what));
}

}  // namespace codeflare::node
