#pragma once

#include <iosfwd>
#include <string>

namespace codeflare {

// A password, token or key. Cannot be printed by accident (it prints as <redacted>) and does not
// stay in memory after use. Hand out reveal() only where the bytes leave for their destination.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text);
  Secret(const Secret&) = default;
  Secret& operator=(const Secret& other);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  ~Secret();

  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }

  // Takes as long for a wrong text as for the right one of the same length.
  friend bool operator==(const Secret& a, const Secret& b);
  friend std::ostream& operator<<(std::ostream& out, const Secret&);

 private:
  std::string text_;
};

// Overwrites the text, also what it has reserved, and empties it.
void wipe(std::string& text);

}  // namespace codeflare
