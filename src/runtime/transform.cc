#include "runtime/transform.h"

#include "json/scan.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::runtime {

namespace {

constexpr std::string_view kKey = "\"managedFields\":";

// Takes the member out together with the comma that parts it from a neighbour. False when it stands
// there as no server writes it, with spaces around: then it stays.
bool cut(std::string& text, std::string_view value) {
  auto begin = static_cast<std::size_t>(value.data() - text.data());
  std::size_t end = begin + value.size();
  if (!std::string_view(text).substr(0, begin).ends_with(kKey)) {
    return false;
  }
  begin -= kKey.size();
  if (text[begin - 1] == ',') {
    --begin;
  } else if (text[end] == ',') {
    ++end;
  } else if (text[begin - 1] != '{' || text[end] != '}') {
    return false;
  }
  text.erase(begin, end - begin);
  return true;
}

}  // namespace

kube::ObjectRef without_managed_fields(kube::ObjectRef object) {
  std::string text = object->text();
  constexpr std::array<std::string_view, 1> kPaths = {"metadata.managedFields"};
  std::array<std::string_view, 1> slices;
  if (!json::scan(text, kPaths, slices) || slices[0].empty() || !cut(text, slices[0])) {
    return object;
  }
  Result<kube::ObjectRef> smaller = kube::Object::from_json(text);
  return smaller ? *std::move(smaller) : object;
}

}  // namespace codeflare::runtime
