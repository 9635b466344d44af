#pragma once

#include "apiserver/store/object.h"
#include "base/bytes.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// The text of an event whose object goes out as it is, the same for all who watch: the last one is
// kept, because they ask for it one after the other.
class EventText {
 public:
  // Larger objects are better shared with the store than copied.
  static constexpr std::size_t kBytesMax = 64u << 10;

  // `begin`, which lives as long as the process, the object, and the end of an event.
  Bytes of(std::string_view begin, const ObjectPtr& object) {
    if (object != object_ || begin.data() != begin_.data()) {
      object_ = object;
      begin_ = begin;
      std::string text;
      text.reserve(begin.size() + object->json().size() + 2);
      text.append(begin).append(object->json()).append("}\n");
      text_ = Bytes::from(std::move(text));
    }
    return text_;
  }

 private:
  ObjectPtr object_;  // kept, so that its address is not given to another one meanwhile
  std::string_view begin_;
  Bytes text_;
};

}  // namespace codeflare::apiserver::internal
