#include "net/http.h"

#include "net/body_budget.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace codeflare::net {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

class WholeBody final : public BodyStream {
 public:
  explicit WholeBody(Bytes bytes) : bytes_(std::move(bytes)) {}
  Task<Result<Bytes>> read() override { co_return std::exchange(bytes_, Bytes()); }
  std::optional<Bytes> ready() override { return std::exchange(bytes_, Bytes()); }

 private:
  Bytes bytes_;
};

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string_view> Headers::get(std::string_view name) const {
  for (const Field& field : fields_) {
    if (equal_ignoring_case(field.name, name)) {
      return field.value;
    }
  }
  return std::nullopt;
}

void Headers::add(std::string name, std::string value) {
  fields_.push_back({std::move(name), std::move(value)});
}

void Headers::set(std::string name, std::string value) {
  remove(name);
  add(std::move(name), std::move(value));
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const Field& f) { return equal_ignoring_case(f.name, name); });
}

Body body_of(Bytes bytes) {
  return bytes.empty() ? nullptr : std::make_unique<WholeBody>(std::move(bytes));
}

Task<Result<std::string>> read_all(Body body, std::size_t bytes_max) {
  BodyBudget unbounded(std::numeric_limits<std::size_t>::max());
  co_return co_await read_all(std::move(body), bytes_max, unbounded);
}

Response make_response(int status, std::string_view content_type, Bytes body) {
  Response response;
  response.status = status;
  response.headers.add("Content-Type", std::string(content_type));
  response.body_size = body.size();
  response.body = body_of(std::move(body));
  return response;
}

}  // namespace codeflare::net
