#include "kube/internal/list_body.h"

#include "json/scan.h"
#include "kube/object.h"

#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::kube::internal {

namespace {

constexpr std::size_t kItemsPerTurn = 256;

Error bad_list(const Error& cause) {
  return data_loss("list answer: " + cause.message);
}

}  // namespace

Task<Result<ObjectList>> parse_list(std::string body) {
  std::vector<std::string_view> items;
  Result<json::ListHead> head =
      json::for_each_item(body, "items", [&](std::string_view item) -> Result<void> {
        items.push_back(item);
        return {};
      });
  if (!head) {
    co_return fail(bad_list(head.error()));
  }
  if (!head->kind.ends_with("List")) {
    co_return fail(bad_list(data_loss("kind is \"" + std::string(head->kind) + "\"")));
  }
  ObjectList list;
  list.resource_version = head->rv;
  list.continue_token = head->continue_token;
  list.remaining_items = head->remaining_item_count;
  list.items.reserve(items.size());
  for (std::string_view item : items) {
    Result<ObjectRef> object = Object::from_json(item);
    if (!object) {
      co_return fail(bad_list(object.error()));
    }
    list.items.push_back(*std::move(object));
    if (list.items.size() % kItemsPerTurn == 0) {
      co_await yield();
    }
  }
  co_return list;
}

}  // namespace codeflare::kube::internal
