#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::apiserver::schema::internal {

// Where a walk stands: "spec.containers[0].name". Each step undoes itself when it goes out of
// scope:
//   FieldPath path;  auto step = path.field("spec");
class FieldPath {
 public:
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
    if (length != 0) {
      text_.push_back('.');
    }
    text_.append(name);
    return {text_, length};
  }
  Step index(std::size_t i) {
    std::size_t length = text_.size();
    text_.append("[").append(std::to_string(i)).append("]");
    return {text_, length};
  }
  Step key(std::string_view name) {
    std::size_t length = text_.size();
    text_.append("[").append(name).append("]");
    return {text_, length};
  }

  const std::string& text() const { return text_; }
  std::string child(std::string_view name) const {
    return text_.empty() ? std::string(name) : text_ + "." + std::string(name);
  }

 private:
  std::string text_;
};

}  // namespace codeflare::apiserver::schema::internal
