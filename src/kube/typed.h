#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/codec/codec.h"
#include "model/resources.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::kube {

// Client calls for one kind in one namespace, in terms of its struct. Include the kind's codec
// header. A value: cheap to copy; the client outlives it.
//   Api<model::Pod> pods(client, "default");
//   Result<model::Pod> pod = co_await pods.get("web-0");
template <typename T>
class Api {
 public:
  // Without a namespace: all of them for lists, and each object's own for writes.
  explicit Api(Client& client, std::string ns = {}) : client_(&client), ns_(std::move(ns)) {}

  struct List {
    std::vector<T> items;
    std::string resource_version;
    // Of a single page: where the next one begins; empty for the last.
    std::string continue_token{};
    std::optional<std::int64_t> remaining_items{};
  };

  struct Event {
    WatchEvent::Type type = WatchEvent::Type::added;
    std::optional<T> object{};       // none for bookmarks
    std::string resource_version{};  // of the object or bookmark
    bool initial_events_end = false;
  };

  // One open watch request; dropping it ends the request. As WatchStream: an ERROR event is the
  // error. Use a Watcher to watch indefinitely.
  class Watch {
   public:
    explicit Watch(std::unique_ptr<WatchStream> stream) : stream_(std::move(stream)) {}

    // The next event; nothing when the server ended the stream in good order. An object that does
    // not fit its struct is `data_loss`, and the events behind it can still be read.
    Task<Result<std::optional<Event>>> next() {
      CO_TRY_ASSIGN(std::optional<WatchEvent> event, co_await stream_->next());
      if (!event) {
        co_return std::nullopt;
      }
      Event typed{.type = event->type,
                  .object = {},
                  .resource_version = std::move(event->resource_version),
                  .initial_events_end = event->initial_events_end};
      if (event->object != nullptr) {
        CO_TRY_ASSIGN(typed.object, decode(std::move(event->object)));
      }
      co_return std::move(typed);
    }

   private:
    std::unique_ptr<WatchStream> stream_;
  };

  Task<Result<T>> get(std::string name) {
    co_return decode(co_await client_->get(type(), key(std::move(name))));
  }

  // All pages.
  Task<Result<List>> list(ListOptions options = {}) {
    options.ns = ns_;
    co_return decode_list(co_await client_->list_all(type(), std::move(options)));
  }

  // One page of `options.limit` objects; the next one begins at its continue_token.
  Task<Result<List>> list_page(ListOptions options) {
    options.ns = ns_;
    co_return decode_list(co_await client_->list(type(), std::move(options)));
  }

  Task<Result<Watch>> watch(WatchOptions options = {}) {
    options.ns = ns_;
    CO_TRY_ASSIGN(std::unique_ptr<WatchStream> stream,
                  co_await client_->watch(type(), std::move(options)));
    co_return Watch(std::move(stream));
  }

  Task<Result<T>> create(T object, WriteOptions options = {}) {
    std::string ns = namespace_of(object);
    std::string body = model::to_json_text(object);
    co_return decode(
        co_await client_->create(type(), std::move(ns), std::move(body), std::move(options)));
  }

  // With the resourceVersion that was read: `conflict` when somebody else wrote since.
  Task<Result<T>> update(T object, WriteOptions options = {}) {
    ObjectKey at{namespace_of(object), object.metadata.name};
    std::string body = model::to_json_text(object);
    co_return decode(
        co_await client_->update(type(), std::move(at), std::move(body), std::move(options)));
  }

  Task<Result<T>> update_status(T object, WriteOptions options = {}) {
    options.subresource = "status";
    co_return co_await update(std::move(object), std::move(options));
  }

  Task<Result<T>> patch(std::string name, PatchKind kind, std::string body,
                        WriteOptions options = {}) {
    co_return decode(co_await client_->patch(type(), key(std::move(name)), kind, std::move(body),
                                             std::move(options)));
  }

  // Server-side apply of the fields that are set.
  Task<Result<T>> apply(T object, WriteOptions options = {}) {
    object.metadata.managed_fields.clear();  // servers reject them here
    ObjectKey at{namespace_of(object), object.metadata.name};
    std::string body = model::to_json_text(object);
    co_return decode(
        co_await client_->apply(type(), std::move(at), std::move(body), std::move(options)));
  }

  // The object when it stays for finalizers or grace.
  Task<Result<std::optional<T>>> remove(std::string name, DeleteOptions options = {}) {
    CO_TRY_ASSIGN(ObjectRef object,
                  co_await client_->remove(type(), key(std::move(name)), std::move(options)));
    if (object == nullptr) {
      co_return std::nullopt;
    }
    CO_TRY_ASSIGN(T rest, decode(std::move(object)));
    co_return std::move(rest);
  }

  // All that the selectors of `which` choose; without any, all of the namespace.
  Task<Result<void>> remove_collection(ListOptions which, DeleteOptions options = {}) {
    which.ns = ns_;
    co_return co_await client_->remove_collection(type(), std::move(which), std::move(options));
  }

  static ResourceType type() { return model::resource_type<T>(); }

 private:
  ObjectKey key(std::string name) const { return {ns_, std::move(name)}; }
  std::string namespace_of(const T& object) const { return ns_.empty() ? object.metadata.ns : ns_; }

  // The server's object is not what the struct says: not the caller's fault.
  static Result<T> decode(Result<ObjectRef> object) {
    if (!object) {
      return fail(std::move(object).error());
    }
    Result<T> value = (*object)->template as<T>();
    if (!value) {
      return fail(data_loss(type().qualified_name() + " \"" + std::string((*object)->name()) +
                            "\": " + value.error().message));
    }
    return value;
  }

  static Result<List> decode_list(Result<ObjectList> objects) {
    if (!objects) {
      return fail(std::move(objects).error());
    }
    List list{.items = {},
              .resource_version = std::move(objects->resource_version),
              .continue_token = std::move(objects->continue_token),
              .remaining_items = objects->remaining_items};
    list.items.reserve(objects->items.size());
    for (ObjectRef& object : objects->items) {
      TRY_ASSIGN(T item, decode(std::move(object)));
      list.items.push_back(std::move(item));
    }
    return list;
  }

  Client* client_;
  std::string ns_;
};

}  // namespace codeflare::kube
