#include "apiserver/identity/internal/certificate_request.h"

#include <openssl/err.h>
#include <openssl/pem.h>

namespace codeflare::apiserver::internal {

namespace {

using RequestPtr = std::unique_ptr<X509_REQ, net::OpenSslFree<X509_REQ_free>>;

// The values of one attribute of the subject, in order.
std::vector<std::string> values_of(const X509_NAME* name, int nid) {
  std::vector<std::string> values;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0) {
      values.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    }
    OPENSSL_free(text);
  }
  return values;
}

}  // namespace

Result<ReadRequest> read_certificate_request(std::string_view pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  KeyPtr key(request == nullptr ? nullptr : X509_REQ_get_pubkey(request.get()));
  const bool proven = key != nullptr && X509_REQ_verify(request.get(), key.get()) == 1;
  ERR_clear_error();
  if (!proven) {
    return fail(invalid_argument(request == nullptr
                                     ? "spec.request: expected a PKCS #10 request in PEM form"
                                     : "spec.request: its signature does not belong to its key"));
  }
  const X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  const std::vector<std::string> names = values_of(subject, NID_commonName);
  if (names.size() != 1 || names.front().empty()) {
    return fail(invalid_argument("spec.request: expected one common name, the user"));
  }
  return ReadRequest{names.front(), values_of(subject, NID_organizationName), std::move(key)};
}

}  // namespace codeflare::apiserver::internal
