#include "ray/internal/package_tree.h"

#include "base/env/link_target.h"
#include "ray/ignore_patterns.h"
#include "ray/utf8.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

namespace codeflare::ray::internal {

namespace {

// Two links to a parent directory make a tree without end.
constexpr std::size_t kEntriesMax = 200'000;

class Walk {
 public:
  Walk(FileSystem& files, std::string root, bool honor_gitignore)
      : files_(files), root_(std::move(root)), honor_gitignore_(honor_gitignore) {}

  Result<PackageTree> run(const std::vector<std::string>& excludes) {
    levels_.push_back({"", IgnorePatterns::of(excludes)});
    TRY(visit(""));
    std::ranges::sort(tree_.entries, {}, &PackageEntry::path);
    return std::move(tree_);
  }

 private:
  // The patterns of one ignore file count from its directory.
  struct Level {
    std::string directory;  // relative to the root, with a slash at its end; empty for the root
    IgnorePatterns patterns;
  };

  std::string full_path(const std::string& path) const {
    return path.empty() ? root_ : join_path(root_, path);
  }

  // Nothing where a path leads nowhere.
  Result<std::optional<FileInfo>> look(const std::string& full) {
    Result<FileInfo> info = target_info(files_, full);
    if (info) {
      return *std::move(info);
    }
    if (info.error().code == ErrorCode::not_found ||
        info.error().code == ErrorCode::failed_precondition) {
      return std::nullopt;
    }
    return fail(std::move(info).error());
  }

  // `path` is relative to the root, empty for the root.
  Result<void> visit(const std::string& path) {
    TRY_ASSIGN(const std::optional<FileInfo> info, look(full_path(path)));
    const bool directory = info && info->type == FileInfo::Type::directory;
    const std::size_t levels_before = levels_.size();
    if (directory) {
      TRY(read_ignore_files(path));
    }
    if (excluded(path)) {
      tree_.all_excluded = tree_.all_excluded || path.empty();
    } else if (directory) {
      TRY(visit_directory(path, *info));
    } else {
      const bool file = info && info->type == FileInfo::Type::file;
      TRY(add({.path = path,
               .kind = file ? PackageEntry::Kind::file : PackageEntry::Kind::missing,
               .size = file ? info->size : 0,
               .mode = file ? info->mode : 0}));
    }
    levels_.erase(levels_.begin() + static_cast<std::ptrdiff_t>(levels_before), levels_.end());
    return {};
  }

  Result<void> visit_directory(const std::string& path, const FileInfo& info) {
    Result<std::vector<std::string>> listed = files_.list(full_path(path));
    if (!listed && listed.error().code == ErrorCode::failed_precondition) {
      // At the end of a circle of links some directories can be seen but not listed.
      return add({.path = path, .kind = PackageEntry::Kind::missing});
    }
    TRY_ASSIGN(const std::vector<std::string> names, std::move(listed));
    TRY(add({.path = path.empty() ? "." : path,
             .kind = names.empty() ? PackageEntry::Kind::empty_directory
                                   : PackageEntry::Kind::directory,
             .mode = info.mode}));
    for (const std::string& name : names) {
      TRY(visit(path.empty() ? name : path + "/" + name));
    }
    return {};
  }

  Result<void> add(PackageEntry entry) {
    if (!from_utf8(entry.path)) {
      return fail(
          invalid_argument("a file name in " + root_ + " is not UTF-8, rename it: " + entry.path));
    }
    if (tree_.entries.size() == kEntriesMax) {
      return fail(too_large(root_ + ": more than " + std::to_string(kEntriesMax) +
                            " files, the last one " + entry.path +
                            "; look for links to a parent directory"));
    }
    tree_.entries.push_back(std::move(entry));
    return {};
  }

  Result<void> read_ignore_files(const std::string& path) {
    for (const char* name : {".gitignore", ".rayignore"}) {
      if (name == std::string_view(".gitignore") && !honor_gitignore_) {
        continue;
      }
      const std::string full = join_path(full_path(path), name);
      TRY_ASSIGN(const std::optional<FileInfo> info, look(full));
      if (!info || info->type != FileInfo::Type::file) {
        continue;
      }
      TRY_ASSIGN(const std::string text, files_.read(full));
      if (!from_utf8(text)) {
        return fail(invalid_argument(full + " is not UTF-8"));
      }
      levels_.push_back({path.empty() ? "" : path + "/", IgnorePatterns::parse(text)});
    }
    return {};
  }

  bool excluded(const std::string& path) const {
    return std::ranges::any_of(levels_, [&](const Level& level) {
      // The directory of an ignore file is "." to its patterns.
      const bool itself = path.size() + 1 == level.directory.size() || path.empty();
      return level.patterns.excludes(itself ? "." : path.substr(level.directory.size()));
    });
  }

  FileSystem& files_;
  std::string root_;
  bool honor_gitignore_;
  std::vector<Level> levels_;
  PackageTree tree_;
};

}  // namespace

Result<PackageTree> walk_tree(FileSystem& files, const std::string& root,
                              const std::vector<std::string>& excludes, bool honor_gitignore) {
  return Walk(files, root, honor_gitignore).run(excludes);
}

}  // namespace codeflare::ray::internal
