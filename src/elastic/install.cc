#include "elastic/install.h"

#include "base/env/file_system.h"
#include "elastic/library_files.h"
#include "elastic/own_program.h"

#include <cstddef>
#include <cstdint>

namespace codeflare::elastic {

namespace {

constexpr std::size_t kProgramBytesMax = 512u << 20;

Result<void> copy_file(FileSystem& files, const std::string& from, const std::string& to,
                       std::uint32_t mode) {
  TRY_ASSIGN(const std::string content, files.read(from, kProgramBytesMax));
  return files.write(to, content, {.mode = mode});
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
  for (const LibraryFile& file : library_files()) {
    const std::string path =
        join_path(directory, "python/codeflare_elastic/" + std::string(file.name));
    TRY(files.make_directories(parent_path(path)));
    TRY(files.write(path, std::string(file.text), {.mode = 0644}));
  }
  return {};
}

}  // namespace codeflare::elastic
