#include "apiserver/store/internal/stored_objects.h"

#include "apiserver/store/internal/printable.h"

#include <utility>

namespace codeflare::apiserver {

CollectionId StoredObjects::id_of(std::string_view collection) {
  auto found = ids_.find(collection);
  if (found == ids_.end()) {
    collections_.push_back({.name = std::string(collection)});
    found = ids_.emplace(collection, static_cast<CollectionId>(collections_.size())).first;
  }
  return found->second;
}

Result<void> StoredObjects::add(const LogRecord& record) {
  const CollectionId id = id_of(record.collection);
  auto object = make_object({.collection = id,
                             .text = record.text.view(),
                             .revision = record.revision,
                             .created = record.created});
  if (!object || (*object)->json() != record.text.view()) {
    return fail(data_loss("the log's object of " + printable(record.collection) +
                          " created at revision " + std::to_string(record.created) + ": " +
                          (object ? "its revision is not the log's" : object.error().message)));
  }
  added_.push_back(*std::move(object));
  return {};
}

// All at once: between two reads the sets would be out of the processor's caches each time.
Result<void> StoredObjects::finish(Revision revision) {
  for (ObjectPtr& object : added_) {
    if (object->revision() > revision) {
      return fail(data_loss("the log holds an object of revision " +
                            std::to_string(object->revision()) + " but ends at " +
                            std::to_string(revision)));
    }
    Collection& collection = collections_[object->collection() - 1];
    auto [known, is_new] = collection.objects.insert(std::move(object));
    if (!is_new) {
      return fail(data_loss("the log holds two objects of " + printable(collection.name) +
                            " named " + printable((*known)->ns()) + "/" +
                            printable((*known)->name())));
    }
  }
  added_.clear();
  return {};
}

}  // namespace codeflare::apiserver
