// gzip (RFC 1952) by zlib.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <zlib.h>

#include "src/record/encodings.h"

namespace sinter::record {
namespace {

constexpr int kWindowBits = 15 + 16;  // the largest window; + 16: gzip's header and checksum, not zlib's
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // zlib counts in 32 bits

/// zlib's state: `end` releases what it has.
template <int (*kEnd)(z_stream*)>
struct Stream : z_stream {
  Stream() : z_stream() {}
  ~Stream() { kEnd(this); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void give(std::span<const std::byte> bytes) {
    // zlib does not write there; its type is older than const.
    next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    avail_in = static_cast<uInt>(bytes.size());
  }
  void grow(std::vector<std::byte>& out, std::size_t used) {
    if (used == out.size()) out.resize(std::max<std::size_t>(4096, out.size() * 2));
    next_out = reinterpret_cast<Bytef*>(out.data() + used);
    avail_out = static_cast<uInt>(std::min(out.size() - used, kMostAtOnce));
  }
};

}  // namespace

Pieces gzip(const Pieces& pieces) {
  Stream<deflateEnd> stream;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::vector<std::byte> out;
  std::size_t used = 0;
  const auto run = [&](int flush) {
    int state = Z_OK;
    do {
      stream.grow(out, used);
      const uInt room = stream.avail_out;
      state = deflate(&stream, flush);
      used += room - stream.avail_out;
    } while (stream.avail_in > 0 || (flush == Z_FINISH && state != Z_STREAM_END));
  };
  for (const Bytes& piece : pieces)
    for (std::size_t at = 0; at < piece.size(); at += kMostAtOnce) {
      stream.give(std::span(piece).subspan(at, std::min(kMostAtOnce, piece.size() - at)));
      run(Z_NO_FLUSH);
    }
  run(Z_FINISH);
  out.resize(used);
  return {Bytes(std::move(out))};
}

Bytes gunzip(const Bytes& file, std::string_view source) {
  Stream<inflateEnd> stream;
  if (inflateInit2(&stream, kWindowBits) != Z_OK) throw std::bad_alloc();
  std::vector<std::byte> out;
  std::size_t used = 0, given = 0;
  bool ended = false, full = false;
  while (!ended) {
    // Where there was no room, more may come without more input.
    if (stream.avail_in == 0 && !full) {
      const std::size_t next = std::min(kMostAtOnce, file.size() - given);
      if (next == 0)
        fail(source, "the gzip file ends early, after " + std::to_string(file.size()) + " bytes");
      stream.give(std::span(file).subspan(given, next));
      given += next;
    }
    try {
      stream.grow(out, used);
    } catch (const std::bad_alloc&) {
      fail(source, "the gzip file of " + std::to_string(file.size()) + " bytes unpacks to more than " +
                       std::to_string(used) + " bytes, for which no memory is left");
    }
    const uInt room = stream.avail_out;
    const int state = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    full = stream.avail_out == 0;
    if (state == Z_MEM_ERROR) throw std::bad_alloc();
    if (state == Z_STREAM_END)
      ended = true;
    else if (state != Z_OK && state != Z_BUF_ERROR)
      fail(source, std::string("the gzip file is damaged: ") +
                       (stream.msg ? stream.msg : "it asks for a dictionary"));
  }
  if (const std::size_t rest = file.size() - given + stream.avail_in; rest != 0)
    fail(source, "there are " + std::to_string(rest) + " bytes behind the end of the gzip file");
  out.resize(used);
  return out;
}

}  // namespace sinter::record
