#include "apiserver/store/remedy.h"

#include "apiserver/store/internal/generation.h"
#include "apiserver/store/internal/recovery.h"

#include <cstdint>
#include <vector>

namespace codeflare::apiserver {

namespace {

// "data/store-3.db"; an older one as well when it is still there, or it would count again.
std::string databases_of(const DataDirectory& directory) {
  std::string named;
  for (std::uint64_t generation : directory.generations().value_or(std::vector<std::uint64_t>())) {
    named += (named.empty() ? "" : " and ") + directory.file(generation);
  }
  return named;
}

}  // namespace

Error with_remedy(Error error, FileSystem& files, const std::string& directory) {
  if (error.code != ErrorCode::data_loss) {
    return error;
  }
  const std::string restore =
      "restore a copy (codeflare apiserver restore FILE --replace --data-dir " + directory + ")";
  if (dynamic_cast<const DamagedObject*>(error.detail.get()) != nullptr ||
      dynamic_cast<const DamagedLog*>(error.detail.get()) != nullptr) {
    error.message += "; " + restore +
                     " or, without one, give up what is damaged (codeflare apiserver repair "
                     "--data-dir " +
                     directory + ")";
    return error;
  }
  error.message += "; it is more than repair can take out: " + restore;
  if (std::string named = databases_of({files, directory}); !named.empty()) {
    error.message += " or, when nothing in there is to be kept, remove " + named;
  }
  return error;
}

}  // namespace codeflare::apiserver
