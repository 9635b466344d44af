#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::up::testing {

// Tar files for tests, also those that no honest program writes.
//   TarBuilder().file("a", "text").symlink("b", "/etc").text()
class TarBuilder {
 public:
  TarBuilder& file(std::string_view path, std::string_view content, std::uint32_t mode = 0644) {
    return entry(path, '0', "", content, mode);
  }
  TarBuilder& directory(std::string_view path, std::uint32_t mode = 0755) {
    return entry(path, '5', "", "", mode);
  }
  TarBuilder& symlink(std::string_view path, std::string_view target) {
    return entry(path, '2', target, "", 0777);
  }
  TarBuilder& hard_link(std::string_view path, std::string_view target) {
    return entry(path, '1', target, "", 0644);
  }
  TarBuilder& entry(std::string_view path, char type, std::string_view link,
                    std::string_view content, std::uint32_t mode) {
    std::string block(512, '\0');
    const auto put = [&](std::size_t at, std::string_view value) {
      block.replace(at, value.size(), value);
    };
    put(0, path.substr(0, 100));
    put(100, octal(mode, 7));
    put(108, octal(0, 7));
    put(116, octal(0, 7));
    put(124, octal(content.size(), 11));
    put(136, octal(0, 11));
    block[156] = type;
    put(157, link.substr(0, 100));
    put(257, std::string_view("ustar\00000", 8));
    put(148, "        ");
    std::uint64_t sum = 0;
    for (const char c : block) {
      sum += static_cast<unsigned char>(c);
    }
    put(148, octal(sum, 6) + std::string("\0 ", 2));
    text_ += block;
    text_ += content;
    text_.append((512 - content.size() % 512) % 512, '\0');
    return *this;
  }
  std::string text() const { return text_ + std::string(1024, '\0'); }

 private:
  static std::string octal(std::uint64_t value, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value /= 8) {
      *digit = static_cast<char>('0' + value % 8);
    }
    return text;
  }
  std::string text_;
};

}  // namespace codeflare::up::testing
