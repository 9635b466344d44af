#include "net/certificate_request.h"

#include "net/internal/real_certificate.h"

#include <openssl/ec.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>

namespace codeflare::net {

namespace {

using RequestPtr = std::unique_ptr<X509_REQ, OpenSslFree<X509_REQ_free>>;

bool add_name(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

Result<CertificateRequest> make_certificate_request(const std::string& user,
                                                    const std::vector<std::string>& groups) {
  const internal::KeyPtr key(EVP_EC_gen("P-256"));
  const RequestPtr request(X509_REQ_new());
  const internal::BioPtr key_text(BIO_new(BIO_s_secmem()));
  const internal::BioPtr text(BIO_new(BIO_s_mem()));
  bool ok = key != nullptr && request != nullptr && key_text != nullptr && text != nullptr;
  X509_NAME* name = ok ? X509_REQ_get_subject_name(request.get()) : nullptr;
  ok = ok &&
       std::ranges::all_of(groups,
                           [&](const std::string& group) { return add_name(name, "O", group); }) &&
       add_name(name, "CN", user) && X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
       X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0 &&
       PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) ==
           1 &&
       PEM_write_bio_X509_REQ(text.get(), request.get()) == 1;
  if (!ok) {
    return fail(invalid_argument("cannot make a certificate request for user \"" + user +
                                 "\": " + internal::take_openssl_error()));
  }
  return CertificateRequest{Secret(text_of(key_text.get())), text_of(text.get())};
}

}  // namespace codeflare::net
