#include "up/images.h"

#include "base/split.h"
#include "json/parse.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace codeflare::up {

namespace {

using node::ImageEntry;
using node::ImageTable;

constexpr std::string_view kUsualPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Reads, changes and writes the table while nobody else does.
Result<void> edit_table(FileSystem& files, const std::string& directory,
                        const std::function<void(ImageTable&)>& change) {
  TRY(files.make_directories(directory, 0700));
  TRY(files.make_directories(join_path(directory, "node"), 0700));
  TRY_ASSIGN(const std::unique_ptr<FileLock> lock,
             files.lock(image_table_path(directory) + ".lock"));
  TRY_ASSIGN(ImageTable table, read_images(files, directory));
  const ImageTable before = table;
  change(table);
  return table == before ? Result<void>()
                         : files.write(image_table_path(directory), table.to_json());
}

Result<void> must_be_directory(FileSystem& files, const std::string& flag,
                               const std::string& path) {
  // A link to one will do: that there is something in it is what counts.
  if (const Result<std::vector<std::string>> names = files.list(path); !names) {
    return fail(invalid_argument(flag + " " + path + ": " + names.error().message));
  }
  return {};
}

// Inside a pod /usr is the machine's own; what a virtual environment was made from elsewhere must
// be brought along.
bool pods_have(std::string_view path) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"/usr/", "/bin", "/lib"},
                             [&](std::string_view place) { return path.starts_with(place); });
}

// "home = /opt/python3.12/bin" of pyvenv.cfg: where its interpreter is.
std::string interpreter_home(std::string_view settings) {
  for (const std::string_view line : split(settings, '\n')) {
    const std::size_t equals = line.find('=');
    std::string_view key = line.substr(0, equals);
    while (key.ends_with(' ')) {
      key.remove_suffix(1);
    }
    if (key == "home" && equals != std::string_view::npos) {
      std::string_view value = line.substr(equals + 1);
      value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
      while (value.ends_with(' ') || value.ends_with('\r')) {
        value.remove_suffix(1);
      }
      return std::string(value);
    }
  }
  return "";
}

Result<void> add_python(FileSystem& files, const std::string& venv, ImageEntry& entry) {
  const Result<std::string> settings = files.read(join_path(venv, "pyvenv.cfg"));
  if (!settings) {
    return fail(invalid_argument("--python-venv " + venv +
                                 " is not a virtual environment: " + settings.error().message));
  }
  entry.directories.push_back(venv);
  const std::string home = interpreter_home(*settings);
  if (!home.empty() && !pods_have(home)) {
    entry.directories.push_back(parent_path(home));
  }
  entry.env.insert_or_assign("PATH", join_path(venv, "bin") + ":" + std::string(kUsualPath));
  entry.env.insert_or_assign("VIRTUAL_ENV", venv);
  entry.args = {"python3"};  // as images of Python: any other program takes its place
  return {};
}

Result<std::vector<std::string>> words_of(const std::string& flag, const std::string& text) {
  std::vector<std::string> words;
  if (!text.starts_with('[')) {
    if (text.find_first_of("'\"\\") != std::string::npos) {
      return fail(invalid_argument(flag + " " + text +
                                   ": words are separated by spaces only; with quotes, write a "
                                   "list such as [\"sh\", \"-c\", \"echo hi\"]"));
    }
    for (const std::string_view word : split(text, ' ')) {
      if (!word.empty()) {
        words.emplace_back(word);
      }
    }
    return words;
  }
  const Result<json::Document> list = json::parse(text);
  const bool good = list && list->root.is_array() &&
                    std::ranges::all_of(list->root.items(), &json::Value::is_string);
  if (!good) {
    return fail(invalid_argument(flag + " " + text +
                                 ": expected words, or a list such as [\"python3\", \"a b.py\"]"));
  }
  for (const json::Value& word : list->root.items()) {
    words.emplace_back(word.as_string());
  }
  return words;
}

// As registries have names, "example.com/team/tool:1.2" or "tool@sha256:...", with stars anywhere.
bool is_image_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '*' ||
           c == '_';
  };
  const auto joins = [](char c) { return std::string_view("./:@-").contains(c); };
  return !name.empty() && is_plain(name.front()) && is_plain(name.back()) && !name.contains("//") &&
         std::ranges::all_of(name, [&](char c) { return is_plain(c) || joins(c); });
}

}  // namespace

Result<ImageEntry> image_entry(FileSystem& files, const ImageFlags& flags) {
  if (!is_image_name(flags.name)) {
    return fail(invalid_argument(
        "\"" + flags.name +
        "\" is not an image name; expected a name such as rayproject/ray:2.9 or rayproject/ray:*"));
  }
  ImageEntry entry;
  entry.image = flags.name;
  entry.root = flags.rootfs;
  entry.workdir = flags.workdir;
  if (!flags.rootfs.empty()) {
    TRY(must_be_directory(files, "--rootfs", flags.rootfs));
  }
  if (!flags.python_venv.empty()) {
    TRY(add_python(files, flags.python_venv, entry));
  }
  for (const std::string& directory : flags.directories) {
    TRY(must_be_directory(files, "--directory", directory));
    entry.directories.push_back(directory);
  }
  for (const std::string& variable : flags.env) {
    const std::size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return fail(invalid_argument("--env " + variable + ": expected NAME=VALUE"));
    }
    entry.env.insert_or_assign(variable.substr(0, equals), variable.substr(equals + 1));
  }
  if (!flags.entrypoint.empty()) {
    TRY_ASSIGN(entry.entrypoint, words_of("--entrypoint", flags.entrypoint));
    entry.args.clear();
  }
  if (!flags.args.empty()) {
    TRY_ASSIGN(entry.args, words_of("--args", flags.args));
  }
  return entry;
}

std::string image_text(const ImageEntry& entry) {
  if (!entry.root.empty()) {
    return "rootfs " + entry.root;
  }
  if (const auto venv = entry.env.find("VIRTUAL_ENV"); venv != entry.env.end()) {
    return "python-venv " + venv->second;
  }
  std::string text;
  for (const std::string& directory : entry.directories) {
    text += (text.empty() ? "directory " : ", ") + directory;
  }
  return text.empty() ? "this machine's programs" : text;
}

std::string image_table_path(const std::string& directory) {
  return join_path(directory, "node/images.json");
}

Result<ImageTable> read_images(FileSystem& files, const std::string& directory) {
  const std::string path = image_table_path(directory);
  const Result<std::string> text = files.read(path);
  if (!text && text.error().code == ErrorCode::not_found) {
    return ImageTable();
  }
  if (!text) {
    return fail(text.error());
  }
  Result<ImageTable> table = ImageTable::parse(*text);
  if (!table) {
    return fail(std::move(table).error().with_context(path));
  }
  return table;
}

Result<bool> put_image(FileSystem& files, const std::string& directory, ImageEntry entry) {
  bool replaced = false;
  TRY(edit_table(files, directory,
                 [&](ImageTable& table) { replaced = table.put(std::move(entry)); }));
  return replaced;
}

Result<RemovedImages> remove_images(FileSystem& files, const std::string& directory,
                                    const std::vector<std::string>& names) {
  RemovedImages images;
  TRY(edit_table(files, directory, [&](ImageTable& table) {
    for (const std::string& name : names) {
      (table.remove(name) ? images.removed : images.missing).push_back(name);
    }
  }));
  return images;
}

}  // namespace codeflare::up
