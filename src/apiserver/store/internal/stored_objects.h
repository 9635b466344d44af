#pragma once

#include "apiserver/store/internal/object_set.h"
#include "apiserver/store/log.h"
#include "base/result.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The objects of a log on their way into memory. A store and a check of a log use the same class,
// so both reject the same logs.
class StoredObjects {
 public:
  struct Collection {
    std::string name;
    ObjectSet objects{};
  };

  Result<void> add(const LogRecord& record);
  // Once everything is added: there is one object of each name, and none newer than the log.
  Result<void> finish(Revision revision);

  // When it is finished; in order of their ids.
  std::vector<Collection>& collections() { return collections_; }

 private:
  CollectionId id_of(std::string_view collection);

  std::vector<Collection> collections_;
  std::map<std::string, CollectionId, std::less<>> ids_;
  std::vector<ObjectPtr> added_;
};

}  // namespace codeflare::apiserver
