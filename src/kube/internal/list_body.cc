#include "kube/internal/list_body.h"

#include "json/scan.h"
#include "kube/object.h"

#include <utility>

namespace codeflare::kube::internal {

namespace {

Error bad_list(const Error& cause) {
  return data_loss("list answer: " + cause.message);
}

}  // namespace

Result<ListWalk> ListWalk::over(std::string body) {
  ListWalk walk;
  walk.body_ = std::make_unique<const std::string>(std::move(body));
  Result<json::ListHead> head =
      json::for_each_item(*walk.body_, "items", [&](std::string_view item) -> Result<void> {
        walk.items_.push_back(item);
        return {};
      });
  if (!head) {
    return fail(bad_list(head.error()));
  }
  if (!head->kind.ends_with("List")) {
    return fail(bad_list(data_loss("kind is \"" + std::string(head->kind) + "\"")));
  }
  walk.head_.resource_version = head->rv;
  walk.head_.continue_token = head->continue_token;
  walk.head_.remaining_items = head->remaining_item_count;
  return walk;
}

Result<ObjectRef> ListWalk::next() {
  if (at_ == items_.size()) {
    return ObjectRef();
  }
  Result<ObjectRef> object = Object::from_json(items_[at_++]);
  return object ? std::move(object) : fail(bad_list(object.error()));
}

Task<Result<ObjectList>> parse_list(std::string body) {
  CO_TRY_ASSIGN(ListWalk walk, ListWalk::over(std::move(body)));
  ObjectList list = walk.head();
  while (true) {
    CO_TRY_ASSIGN(ObjectRef object, walk.next());
    if (object == nullptr) {
      co_return list;
    }
    list.items.push_back(std::move(object));
    if (list.items.size() % kItemsPerTurn == 0) {
      co_await yield();
    }
  }
}

}  // namespace codeflare::kube::internal
