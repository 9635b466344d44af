#include "base/posix.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <unistd.h>

namespace codeflare {

namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
      return ErrorCode::not_found;
    case EEXIST:
      return ErrorCode::already_exists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::permission_denied;
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
    case EBUSY:
    case EXDEV:
    case ELOOP:
    case ETXTBSY:
    case ENOEXEC:
      return ErrorCode::failed_precondition;
    case ENAMETOOLONG:
    case EINVAL:
      return ErrorCode::invalid_argument;
    case E2BIG:
    case EFBIG:
      return ErrorCode::too_large;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return ErrorCode::resource_exhausted;
    case ENOSYS:
    case EOPNOTSUPP:
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
      return ErrorCode::unsupported;
    case EIO:
      return ErrorCode::data_loss;
    default:
      return ErrorCode::internal;
  }
}

}  // namespace

Error posix_error(int error_number, std::string_view what) {
  std::string reason = std::generic_category().message(error_number);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z') {
    reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  }
  return {code_of(error_number), std::string(what) + ": " + reason};
}

void FileDescriptor::close() {
  if (fd_ >= 0) {
    ::close(release());
  }
}

}  // namespace codeflare
