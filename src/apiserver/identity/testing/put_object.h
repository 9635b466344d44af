#pragma once

#include "apiserver/store/testing/store_world.h"
#include "json/scan.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// Creates or replaces an object given by its text, for tests.
inline ObjectPtr put_object(StoreWorld& world, std::string_view resource, std::string_view text) {
  auto head = json::scan_object_head(text);
  CHECK(head.has_value());
  Write write{.collection = world.id(resource),
              .ns = std::string(head->ns),
              .name = std::string(head->name),
              .text = std::string(text)};
  if (ObjectPtr old = world.store().get(write.collection, write.ns, write.name)) {
    write.op = Write::Op::update;
    write.expected = old->revision();
  }
  auto written = world.commit(std::move(write));
  CHECK(written.has_value());
  return *written;
}

inline void remove_object(StoreWorld& world, std::string_view resource, std::string_view ns,
                          std::string_view name) {
  ObjectPtr old = world.store().get(world.id(resource), ns, name);
  CHECK(old != nullptr);
  CHECK(world.commit(world.removal(old)).has_value());
}

}  // namespace codeflare::apiserver
