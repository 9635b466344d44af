#pragma once

#include "base/result.h"
#include "model/app_wrapper.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Whose work an AppWrapper is. Admission writes it down, the queue believes it, and the wrapped
// objects are created in that user's name: nobody gets by an AppWrapper what they may not do
// themselves, also when their rights change while it waits.
namespace codeflare::controllers {

// A user as the API server knows them.
struct Submitter {
  std::string username;
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  friend bool operator==(const Submitter&, const Submitter&) = default;
};

// The text of the annotation, and back. One user has one text.
std::string record_of(const Submitter& submitter);
Result<Submitter> read_record(std::string_view record);

// The annotation beside the record: that admission wrote it, in base64.
inline constexpr std::string_view kSealAnnotation = "workload.codeflare.dev/submitted-by-seal";

// A mark that only admission can make: a signature by a key that users do not have.
class RecordSeal {
 public:
  virtual ~RecordSeal() = default;
  virtual std::string sign(std::string_view text) const = 0;
  virtual bool verify(std::string_view text, std::string_view signature) const = 0;
};

// The text that the seal of a record covers: who, and what they asked to be created where. So a
// sealed record is of no use on another AppWrapper.
std::string sealed_text(const model::AppWrapper& wrapper, std::string_view record);
std::string seal_of(const model::AppWrapper& wrapper, std::string_view record,
                    const RecordSeal& seal);

// Which records are believed.
struct SubmitterTrust {
  // The API server writes them itself, so nobody else can.
  bool built_in = false;
  // Otherwise those that bear this seal; none without it.
  std::shared_ptr<const RecordSeal> seal{};
};

// The submitter, or why nobody can be named.
Result<Submitter> submitter_of(const model::AppWrapper& wrapper, const SubmitterTrust& trust);

}  // namespace codeflare::controllers
