#include "net/testing/certificates.h"

#include "base/check.h"
#include "net/internal/real_certificate.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <utility>

namespace codeflare::net::testing {

using internal::BioPtr;
using internal::KeyPtr;
using internal::X509Ptr;

namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string to_pem(X509* certificate) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return text_of(bio.get());
}

std::string to_pem(EVP_PKEY* key) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  CHECK(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(bio.get());
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  CHECK(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(value.data()),
                                   static_cast<int>(value.size()), -1, 0) == 1);
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, OpenSslFree<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  CHECK(extension != nullptr);
  CHECK(X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Everything but the signature.
X509Ptr draft(const CertificateRequest& request, EVP_PKEY* key, std::int64_t serial) {
  X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), request.valid_from_seconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), request.valid_to_seconds);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const std::string& organization : request.organizations) {
    add_name(subject, "O", organization);
  }
  add_name(subject, "CN", request.common_name);
  CHECK(X509_set_pubkey(certificate.get(), key) == 1);
  return certificate;
}

}  // namespace

struct CertificateAuthority::Parts {
  KeyPtr key;
  X509Ptr certificate;
  std::string pem;
  std::int64_t issued = 1;  // the serial of its own certificate came first
  std::string chain_pem;    // what its certificates carry besides their own
};

CertificateAuthority::CertificateAuthority(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}
CertificateAuthority::~CertificateAuthority() = default;

CertificateAuthority::CertificateAuthority(const std::string& common_name)
    : parts_(std::make_unique<Parts>()) {
  parts_->key.reset(EVP_EC_gen("P-256"));
  parts_->certificate = draft({.common_name = common_name}, parts_->key.get(), 1);
  X509* self = parts_->certificate.get();
  X509_set_issuer_name(self, X509_get_subject_name(self));
  add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(self, self, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(self, self, NID_subject_key_identifier, "hash");
  CHECK(X509_sign(self, parts_->key.get(), EVP_sha256()) > 0);
  parts_->pem = to_pem(self);
}

const std::string& CertificateAuthority::certificate_pem() const {
  return parts_->pem;
}

Identity CertificateAuthority::issue(const CertificateRequest& request) const {
  KeyPtr key(EVP_EC_gen("P-256"));
  X509Ptr certificate = draft(request, key.get(), ++parts_->issued);
  X509* issuer = parts_->certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer));
  add_extension(certificate.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  std::string names;
  for (const std::string& name : request.dns_names) {
    names += (names.empty() ? "DNS:" : ",DNS:") + name;
  }
  for (const std::string& address : request.addresses) {
    names += (names.empty() ? "IP:" : ",IP:") + address;
  }
  if (!names.empty()) {
    add_extension(certificate.get(), issuer, NID_subject_alt_name, names);
  }
  CHECK(X509_sign(certificate.get(), parts_->key.get(), EVP_sha256()) > 0);
  return {to_pem(certificate.get()) + parts_->chain_pem, to_pem(key.get())};
}

std::unique_ptr<CertificateAuthority> CertificateAuthority::intermediate(
    const std::string& common_name) const {
  auto parts = std::make_unique<Parts>();
  parts->key.reset(EVP_EC_gen("P-256"));
  parts->certificate = draft({.common_name = common_name}, parts->key.get(), ++parts_->issued);
  X509* certificate = parts->certificate.get();
  X509* issuer = parts_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
  CHECK(X509_sign(certificate, parts_->key.get(), EVP_sha256()) > 0);
  parts->pem = to_pem(certificate);
  parts->chain_pem = parts->pem + parts_->chain_pem;
  return std::unique_ptr<CertificateAuthority>(new CertificateAuthority(std::move(parts)));
}

}  // namespace codeflare::net::testing
