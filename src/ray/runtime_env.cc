#include "ray/runtime_env.h"

#include "base/env/link_target.h"
#include "base/split.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "json/yaml.h"
#include "ray/internal/package_uri.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace codeflare::ray {

namespace {

using internal::is_uri;
using internal::PackageField;
using json::Value;

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\f\v");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n\f\v") - first + 1);
}

// An option of pip that names a file which the cluster does not have.
bool names_local_file(std::string_view line) {
  for (std::string_view option : {"-r", "--requirement", "-c", "--constraint"}) {
    if (line.starts_with(option)) {
      std::string_view rest = line.substr(option.size());
      const bool is_option = !rest.empty() && (rest.front() == ' ' || rest.front() == '=' ||
                                               rest.front() == '\t' || option.size() == 2);
      rest.remove_prefix(std::min(rest.find_first_not_of("= \t"), rest.size()));
      if (is_option && !is_uri(rest)) {
        return true;
      }
    }
  }
  return false;
}

class Preparation {
 public:
  Preparation(FileSystem& files, const PackageOptions& options, json::Document& document)
      : files_(files), options_(options), arena_(document.arena), root_(document.root) {}

  Result<PreparedRuntimeEnv> run() {
    TRY_ASSIGN(excludes_, read_excludes());
    TRY(with_field("working_dir", working_dir()));
    TRY(with_field("py_modules", py_modules()));
    TRY(with_field("pip", requirements("pip", "pip_check")));
    TRY(with_field("uv", requirements("uv", "uv_check")));
    TRY(with_field("conda", conda()));
    prepared_.json = json::to_text(root_);
    return std::move(prepared_);
  }

 private:
  static Result<void> with_field(std::string_view field, Result<void> result) {
    return result
               ? std::move(result)
               : fail(std::move(result).error().with_context("runtime_env." + std::string(field)));
  }

  // The field, unless it is absent or null.
  Value* field(std::string_view name) {
    Value* found = root_.find(name);
    return found == nullptr || found->is_null() ? nullptr : found;
  }

  Result<std::vector<std::string>> read_excludes() {
    std::vector<std::string> patterns;
    const Value* given = field("excludes");
    if (given == nullptr) {
      return patterns;
    }
    for (const Value& each : given->items()) {
      if (each.is_string()) {
        patterns.emplace_back(each.as_string());
      }
    }
    if (!given->is_array() || patterns.size() != given->size()) {
      return fail(invalid_argument(
          "runtime_env.excludes: is not a list of patterns; give for example [\"*.bin\"]"));
    }
    return patterns;
  }

  Result<std::string> uri_of(Package package) {
    std::string uri = package.uri;
    if (package.all_excluded) {
      prepared_.notes.push_back(package.source +
                                ": an ignore file excludes the directory itself (a pattern such "
                                "as '*' or '.*'), so its package is empty");
    }
    const auto same = std::ranges::find(prepared_.packages, uri, &Package::uri);
    if (same == prepared_.packages.end()) {
      prepared_.packages.push_back(std::move(package));
    } else if (same->top_directory != package.top_directory) {
      return fail(invalid_argument(same->source + " and " + package.source +
                                   " have the same content but different layouts, and Ray would "
                                   "store both under one name; leave one of them out"));
    }
    return uri;
  }

  Result<void> working_dir() {
    Value* given = field("working_dir");
    if (given == nullptr) {
      return {};
    }
    if (!given->is_string()) {
      return fail(invalid_argument("must be a path or a URI"));
    }
    const std::string path(given->as_string());
    if (is_uri(path)) {
      return internal::check_package_uri(path, PackageField::working_dir);
    }
    const bool archive = internal::has_package_extension(path, PackageField::working_dir);
    const Result<FileInfo> info = target_info(files_, join_path(options_.base_directory, path));
    if (archive && info && info->type == FileInfo::Type::file) {
      TRY_ASSIGN(Package package, package_archive(files_, path, options_));
      TRY_ASSIGN(const std::string uri, uri_of(std::move(package)));
      *given = Value::string(arena_, uri);
      return {};
    }
    std::vector<std::string> excludes = options_.default_excludes;
    excludes.insert(excludes.end(), excludes_.begin(), excludes_.end());
    TRY_ASSIGN(Package package, package_directory(files_, path, excludes, options_));
    TRY_ASSIGN(const std::string uri, uri_of(std::move(package)));
    *given = Value::string(arena_, uri);
    return {};
  }

  Result<void> py_modules() {
    Value* given = field("py_modules");
    if (given == nullptr) {
      return {};
    }
    if (!given->is_array()) {
      return fail(invalid_argument("must be a list of paths and URIs"));
    }
    for (Value& each : given->items()) {
      if (!each.is_string()) {
        return fail(invalid_argument("must be a list of paths and URIs"));
      }
      const std::string path(each.as_string());
      if (is_uri(path)) {
        TRY(internal::check_package_uri(path, PackageField::py_modules));
        continue;
      }
      TRY_ASSIGN(Package package, module_package(path));
      TRY_ASSIGN(const std::string uri, uri_of(std::move(package)));
      each = Value::string(arena_, uri);
    }
    return {};
  }

  Result<Package> module_package(const std::string& path) {
    const std::string full = join_path(options_.base_directory, path);
    TRY_ASSIGN(const FileInfo info, target_info(files_, full));
    if (info.type == FileInfo::Type::directory) {
      TRY_ASSIGN(Package package, package_directory(files_, path, excludes_, options_));
      package.top_directory = internal::last_name(full);
      return package;
    }
    if (path.ends_with(".py")) {
      return package_module(files_, path, options_);
    }
    if (path.ends_with(".whl")) {
      return package_archive(files_, path, options_);
    }
    return fail(invalid_argument(in_quotes(path) +
                                 " must be a directory, a .py file, a .whl file or a URI"));
  }

  // A file of requirements becomes the list of its lines.
  Result<void> requirements(std::string_view name, std::string_view check) {
    Value* given = field(name);
    if (given == nullptr || !given->is_string()) {
      return {};
    }
    const std::string path = join_path(options_.base_directory, given->as_string());
    TRY_ASSIGN(const std::string text, files_.read(path));
    Value packages = Value::array();
    std::vector<std::string_view> seen;
    for (std::string_view line : split(trimmed(text), '\n')) {
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      if (names_local_file(trimmed(line))) {
        return fail(invalid_argument(path + ": " + in_quotes(trimmed(line)) +
                                     " refers to a local file; copy its lines into this file"));
      }
      if (std::ranges::find(seen, line) == seen.end()) {
        seen.push_back(line);
        packages.push_back(arena_, Value::string(arena_, line));
      }
    }
    Value inlined = Value::object();
    inlined.set(arena_, "packages", packages);
    inlined.set(arena_, check, Value::boolean(false));
    *given = inlined;
    return {};
  }

  // A file that describes a conda environment becomes what it says.
  Result<void> conda() {
    Value* given = field("conda");
    if (given == nullptr || !given->is_string()) {
      return {};
    }
    const std::string_view name = given->as_string();
    if (!name.ends_with(".yaml") && !name.ends_with(".yml")) {
      return {};
    }
    const std::string path = join_path(options_.base_directory, name);
    TRY_ASSIGN(const std::string text, files_.read(path));
    Result<std::vector<json::Document>> parsed = json::parse_yaml(text);
    if (!parsed) {
      return fail(std::move(parsed).error().with_context(path));
    }
    if (parsed->size() != 1 || !parsed->front().root.is_object()) {
      return fail(invalid_argument(path + " does not describe a conda environment"));
    }
    *given = parsed->front().root.clone(arena_);
    return {};
  }

  FileSystem& files_;
  const PackageOptions& options_;
  json::Arena& arena_;
  Value& root_;
  std::vector<std::string> excludes_;
  PreparedRuntimeEnv prepared_;
};

}  // namespace

Result<PreparedRuntimeEnv> prepare_runtime_env(FileSystem& files, std::string_view json,
                                               const PackageOptions& options) {
  Result<json::Document> document = json::parse(json);
  if (!document) {
    return fail(std::move(document).error().with_context("runtime_env"));
  }
  if (!document->root.is_object()) {
    return fail(invalid_argument("runtime_env must be an object"));
  }
  return Preparation(files, options, *document).run();
}

}  // namespace codeflare::ray
