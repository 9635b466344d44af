#include "base/env/file_system.h"

namespace codeflare {

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) {
    return std::string(name);
  }
  std::string path(directory);
  if (!path.ends_with('/') && !name.empty()) {
    path += '/';
  }
  return path.append(name);
}

std::string parent_path(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  auto slash = path.rfind('/');
  if (slash == std::string_view::npos) {
    return ".";
  }
  while (slash > 0 && path[slash - 1] == '/') {
    --slash;
  }
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

}  // namespace codeflare
