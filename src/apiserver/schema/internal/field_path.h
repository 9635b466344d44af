#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::apiserver::schema::internal {

// Where a walk stands: "spec.containers[0].name". Each step undoes itself when it goes out of
// scope:
//   FieldPath path;  auto step = path.field("spec");
// Keys can be as long as a request, and each complaint repeats the path: it ends with "..." where
// it would become longer than anybody reads.
class FieldPath {
 public:
  static constexpr std::size_t kBytesMax = 2048;

  class [[nodiscard]] Step {
   public:
    Step(std::string& text, std::size_t length) : text_(text), length_(length) {}
    ~Step() { text_.resize(length_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& text_;
    std::size_t length_;
  };

  Step field(std::string_view name) {
    std::size_t length = text_.size();
    append(length == 0 ? "" : ".", name, "");
    return {text_, length};
  }
  Step index(std::size_t i) {
    std::size_t length = text_.size();
    append("[", std::to_string(i), "]");
    return {text_, length};
  }
  Step key(std::string_view name) {
    std::size_t length = text_.size();
    append("[", name, "]");
    return {text_, length};
  }

  const std::string& text() const { return text_; }
  std::string child(std::string_view name) const {
    FieldPath longer = *this;
    longer.append(text_.empty() ? "" : ".", name, "");
    return std::move(longer.text_);
  }

 private:
  void append(std::string_view before, std::string_view name, std::string_view after) {
    constexpr std::string_view kMore = "...";
    if (text_.size() + name.size() <= kBytesMax) {
      text_.append(before).append(name).append(after);
    } else if (!text_.ends_with(kMore)) {
      text_.append(kMore);
    }
  }

  std::string text_;
};

}  // namespace codeflare::apiserver::schema::internal
