#include "elastic/install.h"

#include "base/env/file_system.h"
#include "elastic/own_program.h"

#include <optional>

namespace codeflare::elastic {

namespace {

constexpr std::size_t kProgramBytesMax = 512u << 20;

Result<void> copy_file(FileSystem& files, const std::string& from, const std::string& to,
                       std::uint32_t mode) {
  TRY_ASSIGN(const std::string content, files.read(from, kProgramBytesMax));
  return files.write(to, content, {.mode = mode});
}

// Python files and what lies beside them; no caches.
Result<void> copy_tree(FileSystem& files, const std::string& from, const std::string& to) {
  TRY(files.make_directories(to));
  TRY_ASSIGN(const std::vector<std::string> names, files.list(from));
  for (const std::string& name : names) {
    const std::string source = join_path(from, name);
    TRY_ASSIGN(const FileInfo info, files.info(source));
    if (info.type == FileInfo::Type::directory && name != "__pycache__") {
      TRY(copy_tree(files, source, join_path(to, name)));
    } else if (info.type == FileInfo::Type::file) {
      TRY(copy_file(files, source, join_path(to, name), 0644));
    }
  }
  return {};
}

}  // namespace

Result<void> install_agent(Env env, const std::string& directory) {
  FileSystem& files = env.files;
  TRY_ASSIGN(const std::string own, own_program());
  const std::string beside = parent_path(own);
  const std::string small = join_path(beside, "codeflare-agent");
  TRY(files.make_directories(directory));
  TRY(copy_file(files, files.exists(small) ? small : own, join_path(directory, "codeflare-agent"),
                0755));
  const std::optional<std::string> given = env.variables.get("CODEFLARE_ELASTIC_PATH");
  for (const std::string& library :
       {given.value_or(""), join_path(beside, "python/codeflare_elastic"),
        join_path(beside, "../../python/codeflare_elastic"),
        join_path(beside, "../share/codeflare/python/codeflare_elastic")}) {
    if (!library.empty() && files.exists(library)) {
      return copy_tree(files, library, join_path(directory, "python/codeflare_elastic"));
    }
  }
  return {};
}

}  // namespace codeflare::elastic
