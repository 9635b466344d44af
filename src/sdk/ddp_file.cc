#include "sdk/ddp_file.h"

#include "json/yaml.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace codeflare::sdk {

namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 20;

}  // namespace

std::string ddp_file_name(std::string_view name) {
  return std::string(name) + ".job.yaml";
}

std::string ddp_yaml(const json::Value& definition) {
  return "# Submit with: codeflare submit job " + std::string(definition.string_or_empty("name")) +
         "\n" + json::to_yaml(definition, {.sorted = false});
}

Result<DdpDefinition> read_ddp_file(FileSystem& files, const std::string& path,
                                    std::string_view name) {
  TRY_ASSIGN(const std::string text, files.read(path, kBytesMax));
  const Result<std::vector<json::Document>> documents = json::parse_yaml(text);
  if (!documents) {
    return fail(Error(documents.error()).with_context(path));
  }
  if (documents->size() != 1 || !documents->front().root.is_object()) {
    return fail(invalid_argument(path + ": is not one object with arguments of DDPJobDefinition"));
  }
  Result<DdpDefinition> read = read_ddp(documents->front().root);
  if (!read) {
    return fail(std::move(read).error().with_context(path));
  }
  if (!read->name.empty() && read->name != name) {
    return fail(invalid_argument(path + ": defines job '" + read->name + "', not '" +
                                 std::string(name) + "'; change the file's name or argument name"));
  }
  read->name = name;
  return read;
}

}  // namespace codeflare::sdk
