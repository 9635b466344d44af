#include "kube/kubeconfig.h"

#include "base/async/sleep.h"
#include "kube/internal/config_reader.h"
#include "kube/internal/config_text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>

namespace codeflare::kube {

namespace {

constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

template <typename Entry>
const Entry* find_entry(const std::vector<Entry>& entries, std::string_view name) {
  auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : &*found;
}

template <typename Entry>
void merge_entries(std::vector<Entry>& into, std::vector<Entry> from) {
  std::size_t old_size = into.size();
  for (Entry& entry : from) {
    auto end = into.begin() + static_cast<std::ptrdiff_t>(old_size);
    if (std::find_if(into.begin(), end, [&](const Entry& e) { return e.name == entry.name; }) ==
        end) {
      into.push_back(std::move(entry));
    }
  }
}

constexpr Duration kLockPatience = std::chrono::seconds(5);
constexpr Duration kLockPause = std::chrono::milliseconds(50);

// Exists while held, as kubectl's does; removed in the end.
class LockFile {
 public:
  static Result<LockFile> take(FileSystem& files, const std::string& path) {
    Result<void> created = files.create(path);
    if (!created && created.error().code == ErrorCode::already_exists) {
      return fail(resource_exhausted(
          path + ": another program is changing the kubeconfig; if none is, remove this file"));
    }
    if (!created) {
      return fail(std::move(created).error());
    }
    return LockFile(files, path);
  }
  LockFile(LockFile&& other) noexcept
      : files_(other.files_), path_(std::exchange(other.path_, {})) {}
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile() {
    if (!path_.empty()) {
      (void)files_->remove(path_);
    }
  }

 private:
  LockFile(FileSystem& files, std::string path) : files_(&files), path_(std::move(path)) {}
  FileSystem* files_;
  std::string path_;
};

Result<void> edit_once(FileSystem& files, const std::string& path, const KubeconfigChange& change) {
  TRY(files.make_directories(parent_path(path), 0700));
  TRY_ASSIGN(LockFile lock, LockFile::take(files, path + ".lock"));
  Result<std::string> old_text = files.read(path, kFileBytesMax);
  if (!old_text && old_text.error().code == ErrorCode::not_found) {
    old_text = std::string();
  }
  if (!old_text) {
    return fail(std::move(old_text).error().with_context("kubeconfig"));
  }
  TRY_ASSIGN(KubeconfigEditor editor, KubeconfigEditor::parse(*old_text, path));
  std::string before = editor.text();
  TRY(change(editor));
  std::string after = editor.text();
  if (after == before) {
    return {};
  }
  return files.write(path, after, {.mode = 0600, .atomic = true});
}

}  // namespace

Error ConfigPlace::error(std::string_view field, std::string_view what) const {
  std::string where = path;
  if (!where.empty() && !field.empty()) {
    where += '.';
  }
  where += field;
  std::string message = file + ": " + (where.empty() ? "" : where + ": ");
  message += what;
  return invalid_argument(internal::one_line(message));
}

const ClusterEntry* Kubeconfig::cluster(std::string_view name) const {
  return find_entry(clusters, name);
}

const UserEntry* Kubeconfig::user(std::string_view name) const {
  return find_entry(users, name);
}

const ContextEntry* Kubeconfig::context(std::string_view name) const {
  return find_entry(contexts, name);
}

void merge_kubeconfig(Kubeconfig& into, Kubeconfig from) {
  merge_entries(into.clusters, std::move(from.clusters));
  merge_entries(into.users, std::move(from.users));
  merge_entries(into.contexts, std::move(from.contexts));
  if (into.current_context.empty()) {
    into.current_context = std::move(from.current_context);
    into.current_context_file = std::move(from.current_context_file);
  }
  std::ranges::move(from.files, std::back_inserter(into.files));
  std::ranges::move(from.warnings, std::back_inserter(into.warnings));
}

Result<Kubeconfig> load_kubeconfig(FileSystem& files, const std::vector<std::string>& paths,
                                   bool must_exist) {
  Kubeconfig merged;
  for (const std::string& path : paths) {
    Result<std::string> text = files.read(path, kFileBytesMax);
    if (!text && text.error().code == ErrorCode::not_found && !must_exist) {
      continue;
    }
    if (!text) {
      return fail(std::move(text).error().with_context("kubeconfig"));
    }
    TRY_ASSIGN(Kubeconfig config, parse_kubeconfig(*text, path));
    merge_kubeconfig(merged, std::move(config));
  }
  return merged;
}

std::vector<std::string> split_kubeconfig_list(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    std::string_view part = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    if (!part.empty() && std::ranges::find(paths, part) == paths.end()) {
      paths.emplace_back(part);
    }
  }
  return paths;
}

Result<std::string> kubeconfig_to_edit(Env env, const std::string& explicit_path) {
  if (!explicit_path.empty()) {
    return explicit_path;
  }
  std::vector<std::string> listed =
      split_kubeconfig_list(env.variables.get("KUBECONFIG").value_or(""));
  for (const std::string& path : listed) {
    if (env.files.exists(path)) {
      return path;
    }
  }
  if (!listed.empty()) {
    return listed.back();
  }
  std::string home = env.variables.get("HOME").value_or("");
  if (home.empty()) {
    return fail(failed_precondition(
        "no kubeconfig to write to: neither KUBECONFIG nor HOME is set; give --kubeconfig"));
  }
  return join_path(home, ".kube/config");
}

Task<Result<void>> edit_kubeconfig(Env env, std::string path, KubeconfigChange change) {
  Instant give_up = after(env.clock.now(), kLockPatience);
  while (true) {
    Result<void> edited =
        co_await run_blocking(env, [&] { return edit_once(env.files, path, change); });
    if (edited || edited.error().code != ErrorCode::resource_exhausted ||
        env.clock.now() >= give_up) {
      co_return edited;
    }
    CO_TRY(co_await sleep_for(kLockPause));
  }
}

}  // namespace codeflare::kube
