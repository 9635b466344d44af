#pragma once

#include "net/http.h"

#include <functional>
#include <string>
#include <string_view>

namespace codeflare::sim {

// The events of a watch on their way to a client that is to hear of them wrongly: each may be left
// out or say something else. Bookmarks and errors pass as they are.
class EventFilter final : public net::BodyStream {
 public:
  // Gets the type ("ADDED") and the object's text, which it may change. False: it is left out.
  using Judge = std::function<bool(std::string_view type, std::string& object)>;
  EventFilter(net::Body inner, Judge judge);

  Task<Result<Bytes>> read() override;

 private:
  // A line with its end; it may say something else afterwards.
  bool passes(std::string& line);

  net::Body inner_;
  Judge judge_;
  std::string text_;  // that has come and was not read yet
};

}  // namespace codeflare::sim
