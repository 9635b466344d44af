#pragma once

#include "apiserver/store/object.h"
#include "base/env/file_system.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace codeflare::apiserver {

struct Repaired {
  struct Dropped {
    std::string damage;  // names the object
    std::string file;    // where its text, as it was found, is kept
  };
  std::vector<Dropped> dropped;  // none: nothing was changed
  Revision revision = 0;         // that the store starts with
};

// For when there is no snapshot to restore: takes the damaged objects out of the data directory,
// which no server may be using, so that the others can be served. `data_loss` when other objects
// may be missing as well; then nothing is changed, and the error says what helps. Blocks.
Result<Repaired> drop_damaged_objects(FileSystem& files, const std::string& directory);

}  // namespace codeflare::apiserver
