#pragma once

namespace codeflare::net {

// Deletes an object of OpenSSL: std::unique_ptr<X509, OpenSslFree<X509_free>>.
template <auto Free>
struct OpenSslFree {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

}  // namespace codeflare::net
