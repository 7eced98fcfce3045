// In the place of gzip.cpp where there was no zlib to build with.
#include <sinter/error.h>

#include "src/record/encodings.h"

namespace sinter::record {
namespace {

[[noreturn]] void refuse() {
  throw DataError(
      "[record] this Sinter was built without zlib, which gzip'd records need: install zlib1g-dev and build "
      "it "
      "again");
}

}  // namespace

Pieces gzip(const Pieces&) { refuse(); }
Bytes gunzip(const Bytes&, std::string_view) { refuse(); }

}  // namespace sinter::record
