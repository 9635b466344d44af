#include "net/internal/real_tls.h"

#include "net/internal/prefetch.h"
#include "net/internal/real_certificate.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace codeflare::net::internal {

namespace {

using ContextPtr = std::unique_ptr<SSL_CTX, OpenSslFree<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpenSslFree<SSL_free>>;

// The largest payload of one TLS record.
constexpr std::size_t kRecordSize = 16u << 10;
// OpenSSL takes a buffer for each write, as large as its largest record may become, and gives it
// back. With records of this size it is of those that the allocator has at hand; events, answers
// to writes and single objects fit.
constexpr std::size_t kSmallRecordSize = 832;

}  // namespace

struct TlsSession::Parts {
  // First what each write needs.
  // The session outside goes after the one that sends through it.
  std::unique_ptr<TlsSession> outer;
  SslPtr ssl;
  std::string* wire = nullptr;  // where records go while some are prepared
  std::size_t record_size = kRecordSize;
  std::string held{};           // records that are ready and not sent
  std::size_t held_sent = 0;    // of them
  Io outer_io{Io::Kind::done};  // what it said last
  int descriptor = -1;
  bool server = false;
  bool broken = false;  // after a fatal error SSL_shutdown must not be called
  bool foreign = false;
  ConnectStep verify_step = ConnectStep::server;
  std::string verify_failure;  // the first one met
  std::string host;
  Error error = internal_error("no TLS error");

  Io send_bytes(const char* data, std::size_t size);
  Io receive_bytes(std::span<char> buffer);
  void prepare_write(std::size_t size);
  Io outcome(int returned);
  Error describe_failure(int ssl_error);
};

namespace {

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL: a vanished peer would end the process.
int bio_write(BIO* bio, const char* data, int size) {
  auto* parts = static_cast<TlsSession::Parts*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  // Records are numbered: none may overtake those that wait.
  if (parts->wire != nullptr || !parts->held.empty()) {
    std::string& out = parts->wire != nullptr ? *parts->wire : parts->held;
    out.append(data, static_cast<std::size_t>(size));
    return size;
  }
  const Io io = parts->send_bytes(data, static_cast<std::size_t>(size));
  if (io.wants()) {
    BIO_set_retry_write(bio);
  }
  return io.kind == Io::Kind::done ? static_cast<int>(io.bytes) : -1;
}

int bio_read(BIO* bio, char* data, int size) {
  auto* parts = static_cast<TlsSession::Parts*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const Io io = parts->receive_bytes(std::span(data, static_cast<std::size_t>(size)));
  if (io.wants()) {
    BIO_set_retry_read(bio);
  }
  if (io.kind == Io::Kind::end) {
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return 0;
  }
  return io.kind == Io::Kind::done ? static_cast<int>(io.bytes) : -1;
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) {
    return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  }
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int bio_create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

// One table for the process, made when first needed and never changed.
const BIO_METHOD* bio_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "codeflare socket");
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    BIO_meth_set_create(made, bio_create);
    return made;
  }();
  return method;
}

TlsSession::Parts& parts_of(X509_STORE_CTX* store) {
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  return *static_cast<TlsSession::Parts*>(SSL_get_app_data(ssl));
}

int verify_server(int ok, X509_STORE_CTX* store) {
  if (ok == 0) {
    TlsSession::Parts& parts = parts_of(store);
    if (parts.verify_failure.empty()) {
      int code = X509_STORE_CTX_get_error(store);
      parts.verify_failure =
          verify_failure_text(code, X509_STORE_CTX_get_current_cert(store), parts.host);
      parts.verify_step = verify_failure_step(code);
    }
  }
  return ok;
}

// A client certificate that does not verify is let in and marked; the service answers 401.
int verify_client(int ok, X509_STORE_CTX* store) {
  if (ok == 0) {
    parts_of(store).foreign = true;
  }
  return 1;
}

constexpr std::string_view kAlpn = "\x08http/1.1";

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* chosen = nullptr;
  const auto* ours = reinterpret_cast<const unsigned char*>(kAlpn.data());
  if (SSL_select_next_proto(&chosen, out_size, ours, kAlpn.size(), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

Result<ContextPtr> make_context(const SSL_METHOD* method) {
  ContextPtr context(SSL_CTX_new(method));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return fail(internal_error("cannot set up TLS: " + take_openssl_error()));
  }
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  // Connections are kept and reused, so tickets would cost more than they save.
  SSL_CTX_set_options(context.get(),
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_read_ahead(context.get(), 1);
  return context;
}

Result<void> use_identity(SSL_CTX* context, const std::string& certificate_pem,
                          const std::string& key_pem, std::string_view whose) {
  std::string certificate_name = std::string(whose) + " certificate";
  std::string key_name = std::string(whose) + " key";
  TRY_ASSIGN(std::vector<X509Ptr> chain, read_certificates(certificate_pem, certificate_name));
  TRY_ASSIGN(KeyPtr key, read_key(key_pem, key_name));
  if (X509_check_private_key(chain[0].get(), key.get()) != 1) {
    ERR_clear_error();
    return fail(invalid_argument(key_name + " does not belong to the " + certificate_name));
  }
  bool used = SSL_CTX_use_certificate(context, chain[0].get()) == 1 &&
              SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  for (std::size_t i = 1; used && i < chain.size(); ++i) {
    used = SSL_CTX_add1_chain_cert(context, chain[i].get()) == 1;
  }
  if (!used) {
    return fail(invalid_argument(certificate_name + ": " + take_openssl_error()));
  }
  return {};
}

Result<void> trust(SSL_CTX* context, const std::vector<X509Ptr>& authorities) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const X509Ptr& authority : authorities) {
    if (X509_STORE_add_cert(store, authority.get()) != 1) {
      return fail(invalid_argument("CA bundle: " + take_openssl_error()));
    }
  }
  // Every certificate in the bundle is trusted, also when it is not self-signed.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

// OpenSSL has one list of errors per thread: a session that is asked from within another begins by
// clearing it, and with it why the other one is about to fail.
class KeptError {
 public:
  KeptError() : code_(ERR_peek_last_error()) {}
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;
  ~KeptError() {
    if (code_ != 0) {
      ERR_raise(ERR_GET_LIB(code_), ERR_GET_REASON(code_));
    }
  }

 private:
  unsigned long code_;
};

}  // namespace

struct TlsContext::Parts {
  ContextPtr context;
  bool server = false;
  bool verify = true;
  std::string server_name;
};

TlsContext::TlsContext(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<TlsContext>> TlsContext::for_client(const TlsClientOptions& options) {
  return make_client(options, options.ca_bundle_pem.empty());
}

Result<std::shared_ptr<TlsContext>> TlsContext::for_proxy(const TlsClientOptions& server) {
  TlsClientOptions options;
  options.ca_bundle_pem = server.ca_bundle_pem;
  options.insecure = server.insecure;
  return make_client(options, true);
}

Result<std::shared_ptr<TlsContext>> TlsContext::make_client(const TlsClientOptions& options,
                                                            bool system_roots) {
  TRY_ASSIGN(ContextPtr context, make_context(TLS_client_method()));
  if (!options.ca_bundle_pem.empty()) {
    TRY_ASSIGN(std::vector<X509Ptr> roots, read_certificates(options.ca_bundle_pem, "CA bundle"));
    TRY(trust(context.get(), roots));
  }
  if (system_roots && !options.insecure && SSL_CTX_set_default_verify_paths(context.get()) != 1) {
    return fail(failed_precondition("the system's CA certificates cannot be read: " +
                                    take_openssl_error()));
  }
  if (options.certificate_pem.empty() != options.key_pem.empty()) {
    return fail(invalid_argument("a client certificate needs its key, and a key its certificate"));
  }
  if (!options.certificate_pem.empty()) {
    TRY(use_identity(context.get(), options.certificate_pem, options.key_pem, "client"));
  }
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(kAlpn.data()),
                          kAlpn.size());
  if (options.insecure) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  } else {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, verify_server);
  }
  auto parts = std::make_unique<Parts>();
  parts->context = std::move(context);
  parts->verify = !options.insecure;
  parts->server_name = options.server_name;
  return std::shared_ptr<TlsContext>(new TlsContext(std::move(parts)));
}

Result<std::shared_ptr<TlsContext>> TlsContext::for_server(const TlsServerOptions& options) {
  TRY_ASSIGN(ContextPtr context, make_context(TLS_server_method()));
  TRY(use_identity(context.get(), options.certificate_pem, options.key_pem, "server"));
  if (!options.client_ca_pem.empty()) {
    TRY_ASSIGN(std::vector<X509Ptr> roots,
               read_certificates(options.client_ca_pem, "client CA bundle"));
    TRY(trust(context.get(), roots));
    // Clients choose their certificate by these names.
    for (const X509Ptr& root : roots) {
      SSL_CTX_add_client_CA(context.get(), root.get());
    }
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, verify_client);
  }
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  auto parts = std::make_unique<Parts>();
  parts->context = std::move(context);
  parts->server = true;
  return std::shared_ptr<TlsContext>(new TlsContext(std::move(parts)));
}

Result<std::unique_ptr<TlsSession>> TlsContext::start(const Socket& socket, const std::string& host,
                                                      std::unique_ptr<TlsSession> outer) const {
  auto parts = std::make_unique<TlsSession::Parts>();
  parts->ssl.reset(SSL_new(parts_->context.get()));
  BIO* bio = BIO_new(bio_method());
  if (parts->ssl == nullptr || bio == nullptr) {
    BIO_free(bio);
    return fail(resource_exhausted("cannot start TLS: " + take_openssl_error()));
  }
  SSL* ssl = parts->ssl.get();
  parts->descriptor = socket.descriptor();
  parts->outer = std::move(outer);
  parts->server = parts_->server;
  BIO_set_data(bio, parts.get());
  SSL_set_bio(ssl, bio, bio);
  SSL_set_app_data(ssl, parts.get());
  if (parts_->server) {
    SSL_set_accept_state(ssl);
    return std::make_unique<TlsSession>(std::move(parts));
  }
  SSL_set_connect_state(ssl);
  parts->host = parts_->server_name.empty() ? host : parts_->server_name;
  bool is_address = parse_endpoint(parts->host, 0).has_value();
  X509_VERIFY_PARAM* rules = SSL_get0_param(ssl);
  // As Go: only subjectAltName counts, and a wildcard stands for a whole label.
  X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  bool named = is_address ? X509_VERIFY_PARAM_set1_ip_asc(rules, parts->host.c_str()) == 1
                          : X509_VERIFY_PARAM_set1_host(rules, parts->host.c_str(), 0) == 1 &&
                                SSL_set_tlsext_host_name(ssl, parts->host.c_str()) == 1;
  if (!named) {
    ERR_clear_error();
    return fail(invalid_argument("\"" + parts->host + "\" cannot be verified as a host name"));
  }
  return std::make_unique<TlsSession>(std::move(parts));
}

TlsSession::TlsSession(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TlsSession::~TlsSession() = default;

Io TlsSession::Parts::send_bytes(const char* data, std::size_t size) {
  if (outer != nullptr) {
    KeptError kept;
    const iovec piece{const_cast<char*>(data), size};
    outer_io = outer->try_write(std::span(&piece, 1));
    return outer_io;
  }
  ssize_t count = send(descriptor, data, size, MSG_NOSIGNAL);
  if (count < 0) {
    return {errno == EAGAIN || errno == EINTR ? Io::Kind::want_write : Io::Kind::failed};
  }
  return {Io::Kind::done, static_cast<std::size_t>(count)};
}

Io TlsSession::Parts::receive_bytes(std::span<char> buffer) {
  if (outer != nullptr) {
    KeptError kept;
    outer_io = outer->try_read(buffer);
    return outer_io;
  }
  ssize_t count = recv(descriptor, buffer.data(), buffer.size(), 0);
  if (count < 0) {
    return {errno == EAGAIN || errno == EINTR ? Io::Kind::want_read : Io::Kind::failed};
  }
  return {count == 0 ? Io::Kind::end : Io::Kind::done, static_cast<std::size_t>(count)};
}

void TlsSession::Parts::prepare_write(std::size_t size) {
  const std::size_t wanted = size <= kSmallRecordSize ? kSmallRecordSize : kRecordSize;
  if (wanted == record_size) {
    return;
  }
  // A message after the handshake, such as a ticket, makes OpenSSL take a buffer for the records of
  // now and keep it: larger ones would not fit. While something is in it small ones have to do.
  if (wanted > record_size && SSL_free_buffers(ssl.get()) != 1) {
    return;
  }
  record_size = wanted;
  SSL_set_max_send_fragment(ssl.get(), static_cast<long>(wanted));
  SSL_set_split_send_fragment(ssl.get(), static_cast<long>(wanted));
}

Io TlsSession::Parts::outcome(int returned) {
  int code = SSL_get_error(ssl.get(), returned);
  switch (code) {
    case SSL_ERROR_WANT_READ:
      // The session outside may have to write before it can read, and the other way round.
      return outer_io.wants() ? outer_io : Io{Io::Kind::want_read};
    case SSL_ERROR_WANT_WRITE:
      return outer_io.wants() ? outer_io : Io{Io::Kind::want_write};
    case SSL_ERROR_ZERO_RETURN:
      return {Io::Kind::end};
    default:
      broken = true;
      error = describe_failure(code);
      return {Io::Kind::failed};
  }
}

Error TlsSession::Parts::describe_failure(int ssl_error) {
  int system_error = errno;
  unsigned long code = ERR_peek_last_error();
  int reason = ERR_GET_REASON(code);
  std::string text = take_openssl_error();
  if (!verify_failure.empty()) {
    return at_step(verify_step, failed_precondition(verify_failure));
  }
  if ((ssl_error == SSL_ERROR_SYSCALL || code == 0) && outer_io.kind == Io::Kind::failed) {
    return outer->last_error();
  }
  if (ssl_error == SSL_ERROR_SYSCALL || code == 0) {
    return unavailable(system_error != 0 ? std::generic_category().message(system_error)
                                         : "connection closed by the other side");
  }
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return unavailable("connection closed by the other side");
  }
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    return at_step(ConnectStep::protocol,
                   failed_precondition(server ? "the client does not speak TLS"
                                              : "the server does not speak TLS"));
  }
  // Reasons above this offset are alerts that the other side sent. Those of all libraries are above
  // them: they have flags.
  if (reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
    return failed_precondition("the other side rejected TLS: " + text);
  }
  return failed_precondition("TLS: " + text);
}

Task<Result<void>> TlsSession::handshake(Socket& socket) {
  for (;;) {
    ERR_clear_error();
    errno = 0;
    int returned = SSL_do_handshake(parts_->ssl.get());
    if (returned == 1) {
      co_return Result<void>();
    }
    Io io = parts_->outcome(returned);
    if (io.kind == Io::Kind::end) {
      co_return fail(unavailable("connection closed during the TLS handshake"));
    }
    if (io.kind == Io::Kind::failed) {
      co_return fail(parts_->error);
    }
    CO_TRY(co_await socket.wanted(io));
  }
}

Io TlsSession::try_read(std::span<char> buffer) {
  std::size_t total = 0;
  // A record holds 16 KiB at most; several are taken together.
  while (total < buffer.size()) {
    ERR_clear_error();
    errno = 0;
    std::size_t count = 0;
    int returned =
        SSL_read_ex(parts_->ssl.get(), buffer.data() + total, buffer.size() - total, &count);
    if (returned != 1) {
      Io io = parts_->outcome(returned);
      return total > 0 ? Io{Io::Kind::done, total} : io;
    }
    total += count;
  }
  return {Io::Kind::done, total};
}

Io TlsSession::try_write(std::span<const iovec> pieces) {
  std::array<char, kRecordSize> joined;
  std::size_t total = 0;
  std::size_t offset = 0;  // into the first piece
  while (!pieces.empty()) {
    if (offset == pieces[0].iov_len) {
      pieces = pieces.subspan(1);
      offset = 0;
      continue;
    }
    const char* data = static_cast<const char*>(pieces[0].iov_base) + offset;
    std::size_t size = std::min(pieces[0].iov_len - offset, kRecordSize);
    // Small pieces share a record. OpenSSL wants the same bytes again after an attempt that could
    // not finish; the same pieces are joined in the same way, so it gets them.
    if (size < kRecordSize && pieces.size() > 1) {
      std::size_t filled = 0;
      std::size_t skip = offset;
      for (const iovec& piece : pieces) {
        std::size_t take = std::min(piece.iov_len - skip, kRecordSize - filled);
        if (take > 0) {
          std::memcpy(joined.data() + filled, static_cast<const char*>(piece.iov_base) + skip,
                      take);
        }
        filled += take;
        skip = 0;
        if (filled == kRecordSize) {
          break;
        }
      }
      data = joined.data();
      size = filled;
    }
    parts_->prepare_write(size);
    ERR_clear_error();
    errno = 0;
    std::size_t count = 0;
    int returned = SSL_write_ex(parts_->ssl.get(), data, size, &count);
    if (returned != 1) {
      Io io = parts_->outcome(returned);
      return total > 0 && io.kind != Io::Kind::failed ? Io{Io::Kind::done, total} : io;
    }
    total += count;
    while (count > 0) {
      std::size_t step = std::min(count, pieces[0].iov_len - offset);
      offset += step;
      count -= step;
      if (offset == pieces[0].iov_len) {
        pieces = pieces.subspan(1);
        offset = 0;
      }
    }
  }
  return {Io::Kind::done, total};
}

Io TlsSession::prepare(std::span<const iovec> pieces, std::string& wire) {
  if (parts_->outer != nullptr) {
    return {Io::Kind::want_write};  // who sends what was made ready knows the socket alone
  }
  parts_->wire = &wire;
  Io io = try_write(pieces);
  parts_->wire = nullptr;
  return io;
}

void TlsSession::hold(std::string_view records) {
  parts_->held.append(records);
}

std::string_view TlsSession::held() const {
  return std::string_view(parts_->held).substr(parts_->held_sent);
}

void TlsSession::sent_held(std::size_t bytes) {
  parts_->held_sent += bytes;
  if (parts_->held_sent == parts_->held.size()) {
    parts_->held = std::string();  // a long wait may follow
    parts_->held_sent = 0;
  }
}

void TlsSession::fetch(std::size_t step) const {
  constexpr std::size_t kHotBytes = 128;      // of the parts
  constexpr std::size_t kSessionBytes = 512;  // where OpenSSL begins
  switch (step) {
    case 0:
      prefetch(this, sizeof *this);
      break;
    case 1:
      prefetch(parts_.get(), kHotBytes);
      break;
    default:
      prefetch(parts_->ssl.get(), kSessionBytes);
  }
}

bool TlsSession::holds_input() const {
  return SSL_has_pending(parts_->ssl.get()) == 1 ||
         (parts_->outer != nullptr && parts_->outer->holds_input());
}

Error TlsSession::last_error() const {
  return parts_->error;
}

void TlsSession::send_close_notify() {
  if (!parts_->broken && SSL_is_init_finished(parts_->ssl.get()) == 1) {
    ERR_clear_error();
    static_cast<void>(SSL_shutdown(parts_->ssl.get()));
    ERR_clear_error();
  }
  if (parts_->outer != nullptr) {
    parts_->outer->send_close_notify();
  }
}

std::optional<Peer::Certificate> TlsSession::verified_certificate() const {
  X509* certificate = SSL_get0_peer_certificate(parts_->ssl.get());
  if (certificate == nullptr || parts_->foreign) {
    return std::nullopt;
  }
  return describe(certificate);
}

bool TlsSession::foreign_certificate() const {
  return parts_->foreign;
}

}  // namespace codeflare::net::internal
