#include "base/env/file_handle.h"

namespace codeflare {

Result<FileHandles*> handles_of(FileSystem& files) {
  auto* handles = dynamic_cast<FileHandles*>(&files);
  if (handles == nullptr) {
    return fail(unsupported("this file system cannot open files"));
  }
  return handles;
}

}  // namespace codeflare
