#include "up/sizes.h"

#include "json/parse.h"
#include "json/write.h"

#include <array>
#include <utility>

namespace codeflare::up {

namespace {

struct Field {
  std::string_view name;
  std::optional<std::string> NodeSizes::* value;
};
constexpr std::array kFields = {Field{"cpus", &NodeSizes::cpus},
                                Field{"memory", &NodeSizes::memory},
                                Field{"gpus", &NodeSizes::gpus}};

std::string sizes_path(const std::string& directory) {
  return join_path(directory, "sizes.json");
}

}  // namespace

ChosenSizes choose_sizes(const NodeSizes& typed, const NodeSizes& remembered) {
  ChosenSizes chosen;
  std::string kept;
  std::string changed;
  for (const Field& field : kFields) {
    const std::optional<std::string>& now = typed.*field.value;
    const std::optional<std::string>& before = remembered.*field.value;
    chosen.sizes.*field.value = now ? now : before;
    if (!now && before) {
      kept += " --" + std::string(field.name) + " " + *before;
    } else if (now && before && *now != *before) {
      changed += (changed.empty() ? "" : ", ") + std::string(field.name) + " " + *now + " (was " +
                 *before + ")";
    }
  }
  if (!changed.empty()) {
    chosen.note = "changed since the last start: " + changed;
  }
  if (!kept.empty()) {
    chosen.note += (chosen.note.empty() ? "" : "; ") + ("as at the last start:" + kept);
  }
  return chosen;
}

std::string to_json(const NodeSizes& sizes) {
  std::string text;
  json::Writer w(text);
  w.begin_object();
  for (const Field& field : kFields) {
    if (sizes.*field.value) {
      w.member(field.name, *(sizes.*field.value));
    }
  }
  w.end_object();
  return text + "\n";
}

NodeSizes parse_sizes(std::string_view text) {
  NodeSizes sizes;
  const Result<json::Document> document = json::parse(text);
  for (const Field& field : kFields) {
    const std::string_view value =
        document ? document->root.string_or_empty(field.name) : std::string_view();
    if (!value.empty()) {
      sizes.*field.value = std::string(value);
    }
  }
  return sizes;
}

NodeSizes read_sizes(FileSystem& files, const std::string& directory) {
  return parse_sizes(files.read(sizes_path(directory)).value_or(""));
}

Result<void> write_sizes(FileSystem& files, const std::string& directory, const NodeSizes& sizes) {
  TRY(files.make_directories(directory, 0700));
  return files.write(sizes_path(directory), to_json(sizes), {.mode = 0600});
}

}  // namespace codeflare::up
