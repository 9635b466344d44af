#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/codec/codec.h"
#include "model/resources.h"

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
  };

  Task<Result<T>> get(std::string name) {
    co_return decode(co_await client_->get(type(), key(std::move(name))));
  }

  // All pages.
  Task<Result<List>> list(ListOptions options = {}) {
    options.ns = ns_;
    CO_TRY_ASSIGN(ObjectList objects, co_await client_->list_all(type(), std::move(options)));
    List list{.items = {}, .resource_version = std::move(objects.resource_version)};
    list.items.reserve(objects.items.size());
    for (ObjectRef& object : objects.items) {
      CO_TRY_ASSIGN(T item, decode(std::move(object)));
      list.items.push_back(std::move(item));
    }
    co_return list;
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
    object.metadata.managed_fields.clear();  // servers refuse them here
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

  Client* client_;
  std::string ns_;
};

}  // namespace codeflare::kube
