// How scatters and scans are cut into passes, for sizes that no test can run.
#include "src/runtime/passes/passes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/passes.h"

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::testing;

namespace {

using Of = PassBuffer::Of;

PassList sort_of(std::int64_t count, std::int64_t rows) {
  library::SortIndicesOp op;
  op.count = count;
  op.rows = rows;
  return passes_of(op);
}

PassList sum_of(std::int64_t count, std::int64_t columns, std::int64_t rows, bool dense) {
  library::SegmentSumOp op;
  op.count = count;
  op.columns = columns;
  op.rows = rows;
  op.dense = dense;
  return passes_of(op);
}

}  // namespace

TEST_CASE("each merge reads what the pass before it wrote, and the last list is the result's") {
  for (const std::int64_t count : {1, 4096, 4097, 8192, 8193, 65535}) {
    CAPTURE(count);
    const PassList list = sort_of(count, 100);
    REQUIRE(list.passes.size() >= 2);
    const bool in_tile = count <= 4096;
    CHECK((list.passes.front().name == "sort_tiles") == in_tile);
    if (in_tile) CHECK(list.passes.size() == 2);
    std::int64_t run = in_tile ? count : 1024;
    for (std::size_t p = 1; p + 1 < list.passes.size(); ++p, run *= 8) {
      const PassBuffer &from = list.passes[p].buffers[0], &before = written(list.passes[p - 1]);
      CHECK(from.of == before.of);
      CHECK(from.first == before.first);
      CHECK(from.of != written(list.passes[p]).of);
      CHECK(list.passes[p].ints[1].second == run);
    }
    CHECK(run >= count);
    const PassBuffer& last = written(list.passes[list.passes.size() - 2]);
    CHECK(last.of == Of::Result);
    CHECK(last.first == 100);
    CHECK(list.passes.back().name == "first_places");
    CHECK((list.workspace_bytes > 0) == !in_tile);
  }
}

TEST_CASE("lanes cover all rows and columns, and there are no more groups than that takes") {
  for (const std::int64_t rows : {1, 3, 255, 257, 100'000, 2'147'483'646})
    for (const std::int64_t columns : {1, 2, 3, 64, 255, 256, 257, 768, 1024, 1025, 1'000'000}) {
      Pass pass;
      pass.rows = rows;
      pass.columns = columns;
      const std::int64_t width = std::int64_t{1} << pass.width_bits();
      CHECK(width <= pass.lanes);
      CHECK(pass.tiles() * width * Pass::kColumns >= columns);
      CHECK((pass.tiles() - 1) * width * Pass::kColumns < columns);
      CHECK(pass.groups() / pass.tiles() * (pass.lanes / width) >= rows);
      CHECK((pass.groups() / pass.tiles() - 1) * (pass.lanes / width) < rows);
    }
  Pass none;
  CHECK(none.groups() == 0);
  none.rows = 5;
  none.columns = 0;
  CHECK(none.groups() == 0);
}

TEST_CASE("no lane has a long loop, however long a segment is") {
  CHECK(sum_of(64, 10, 5, true).passes.size() == 1);
  CHECK(sum_of(64, 10, 5, true).workspace_bytes == 0);
  const PassList many = sum_of(1 << 30, 8, 5, true);
  REQUIRE(many.passes.size() == 2);
  CHECK(many.passes[0].rows == 1 << 15);
  CHECK(many.workspace_bytes == (std::size_t{1} << 15) * 8 * 4);
  CHECK(many.passes[1].buffers[0].numel == std::int64_t{8} << 30);  // in 64 bits
  CHECK(sum_of(100, 8, 1000, false).passes.back().rows == 101);
  CHECK(sum_of(1000, 8, 100, true).passes.back().rows == 100);
}

TEST_CASE("indexed sums fit into what every device has, whatever they are of") {
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64})
    for (const std::int64_t columns : {1, 16, 17, 33, 65, 1000}) {
      library::IndexedSumOp op;
      op.dtype = dtype;
      op.count = 1'000'000, op.columns = columns, op.rows = 1000;
      op.stretches = library::stretches_of_sum(dtype, op.count, columns, op.rows);
      if (op.stretches == 0) op.stretches = 1;
      const PassList list = passes_of(op);
      REQUIRE(list.passes.size() == 1);
      CHECK(list.passes[0].shared_words * 4 <= 16 * 1024);
      const library::IndexedSumTile tile = library::tile_of_sum(dtype, columns);
      CHECK(list.passes[0].groups() * tile.rows * tile.columns >= op.stretches * op.rows * columns);
    }
}

TEST_CASE("indices into few rows are not sorted, those into many are") {
  const auto stretches = [](std::int64_t count, std::int64_t columns, std::int64_t rows) {
    return library::stretches_of_sum(DType::f32, count, columns, rows);
  };
  CHECK(stretches(65'536, 64, 1000) == 16);
  CHECK(stretches(16, 64, 10) == 1);
  CHECK(stretches(0, 64, 0) == 1);
  CHECK(stretches(8192, 768, 50'304) == 0);
  CHECK(stretches(65'536, 64, 10'000) == 0);
  CHECK(stretches(1, 1'000'000, 1) == 0);      // many tiles of one value
  CHECK(stretches(4'000'000, 1, 2000) == 62);  // no stretch goes round its loops for long
  CHECK(stretches(1 << 30, 64, 1000) == 0);    // nor are there many for large sums
  CHECK(stretches(std::int64_t{1} << 31, 1 << 20, (std::int64_t{1} << 31) - 1) == 0);
}

namespace {

/// Scans of contiguous elements.
PassList scan_of(library::ScanKind kind, DType dtype, std::int64_t outer, std::int64_t length,
                 std::int64_t inner, PassDevice device = {}) {
  library::ScanOp op;
  op.scan = kind;
  op.x_dtype = dtype;
  op.dtype = library::gives_positions(kind) ? DType::i32 : dtype;
  op.outer = outer, op.length = length, op.inner = inner;
  op.x_outer = length * inner, op.x_step = inner;
  return passes_of(op, device);
}

std::int64_t defined(const Pass& pass, const std::string& name) {
  const std::size_t at = pass.defines.find("#define " + name + " ");
  REQUIRE(at != std::string::npos);
  return std::stoll(pass.defines.substr(at + name.size() + 9));
}

void check_workspace(const PassList& list) {
  std::int64_t end = 0;
  for (const Pass& pass : list.passes)
    for (const PassBuffer& buffer : pass.buffers)
      if (buffer.of == Of::Workspace)
        end = std::max(end, (buffer.first + buffer.numel) * static_cast<std::int64_t>(size_of(buffer.dtype)));
  CHECK(static_cast<std::size_t>(end) == list.workspace_bytes);
}

/// The lanes that share a sequence have room for all of it.
void check_tiles(const Pass& pass, std::int64_t elements, std::int64_t tile) {
  const std::int64_t width = std::int64_t{1} << pass.width_bits(), each = int_of(pass, "each"),
                     rounds = int_of(pass, "rounds");
  CHECK(pass.columns == width);
  CHECK(pass.tiles() == 1);
  CHECK(each % 2 == 1);
  CHECK(256 * each <= tile);
  CHECK(rounds * width * each >= elements);
  CHECK((rounds - 1) * width * each < elements);
  CHECK(pass.shared_words * 4 <= 16384);
  CHECK(pass.body == "scan_tiles.inc");
}

}  // namespace

TEST_CASE("scans go over tiles of sequences, in one pass or in three") {
  struct Kind {
    library::ScanKind kind;
    DType dtype;
    std::int64_t tile;
  };
  for (const Kind& k :
       {Kind{library::ScanKind::Sum, DType::f32, 3840}, Kind{library::ScanKind::Sum, DType::f64, 1792},
        Kind{library::ScanKind::MaxPosition, DType::f32, 1792},
        Kind{library::ScanKind::MinPosition, DType::i64, 768}})
    for (const std::int64_t length : {std::int64_t{1}, std::int64_t{2}, std::int64_t{9}, std::int64_t{120},
                                      std::int64_t{121}, k.tile, k.tile + 1, 4 * k.tile, 4 * k.tile + 1,
                                      k.tile * k.tile, k.tile * k.tile + 1, std::int64_t{2'147'483'647}})
      for (const std::int64_t outer : {1, 511, 512})
        for (const std::int64_t inner : {1, 7}) {
          CAPTURE(k.tile);
          CAPTURE(length);
          CAPTURE(outer);
          CAPTURE(inner);
          const PassList list = scan_of(k.kind, k.dtype, outer, length, inner);
          const std::int64_t sequences = outer * inner;
          check_workspace(list);
          const Pass& last = list.passes.back();
          CHECK(named(last, "to")->of == Of::Result);
          CHECK(named(last, "to")->numel == sequences * length);
          const bool whole = length <= 4 * k.tile || (sequences >= 512 && length <= 512 * k.tile);
          REQUIRE(list.passes.size() == (whole ? 1 : 3));
          if (whole) {
            CHECK(last.rows == sequences);
            CHECK(list.workspace_bytes == 0);
            check_tiles(last, length, k.tile);
            continue;
          }
          const Pass &totals = list.passes[0], &scan = list.passes[1];
          const std::int64_t chunk = int_of(last, "chunk"), chunks = int_of(last, "chunks");
          CHECK(chunks * chunk >= length);
          CHECK((chunks - 1) * chunk < length);
          for (const Pass* pass : {&totals, &last}) {
            CHECK(pass->rows == sequences * chunks);
            CHECK(int_of(*pass, "chunk") == chunk);
            CHECK(int_of(*pass, "chunks") == chunks);
          }
          CHECK(int_of(last, "ends") == last.rows);
          check_tiles(last, chunk, k.tile);
          check_tiles(scan, chunks, k.tile);
          CHECK(int_of(scan, "rounds") == 1);
          CHECK(int_of(scan, "length") == chunks);
          CHECK(named(totals, "to")->first == named(scan, "from")->first);
          CHECK(named(scan, "to")->first == named(last, "before")->first);
          CHECK(!overlap(*named(scan, "from"), *named(scan, "to")));
          for (const char* name : {"from", "to"}) CHECK(named(scan, name)->numel == sequences * chunks);
        }
}

TEST_CASE("where workgroups may wait, few long sequences are read once") {
  struct Kind {
    library::ScanKind kind;
    DType dtype;
    std::int64_t words, whole, most, least;  // of a state; elements of sequences of one workgroup; of a tile
  };
  for (const Kind& k : {Kind{library::ScanKind::Sum, DType::f32, 1, 4 * 3840, 7936, 1792},
                        Kind{library::ScanKind::Sum, DType::i64, 2, 4 * 1792, 3840, 768},
                        Kind{library::ScanKind::LogSumExp, DType::f32, 1, 4 * 3840, 3840, 1792},
                        Kind{library::ScanKind::LogSumExp, DType::f64, 2, 4 * 1792, 1792, 768},
                        Kind{library::ScanKind::MaxPosition, DType::f32, 2, 4 * 1792, 3840, 768},
                        Kind{library::ScanKind::MinPosition, DType::i64, 3, 4 * 768, 2304, 768}})
    for (const std::int64_t length :
         {k.whole + 1, std::int64_t{300'000}, std::int64_t{1} << 26, std::int64_t{2'147'483'647}})
      for (const std::int64_t outer : {1, 3, 511})
        for (const std::int64_t inner : {1, 7}) {
          CAPTURE(k.words);
          CAPTURE(length);
          CAPTURE(outer);
          CAPTURE(inner);
          const std::int64_t sequences = outer * inner;
          const PassList list = scan_of(k.kind, k.dtype, outer, length, inner, {.waits = true});
          if (sequences >= 512 && length <= 512 * (k.whole / 4)) {
            CHECK(list.passes.size() == 1);
            CHECK(list.passes[0].name == "scan_rows");
            continue;
          }
          REQUIRE(list.passes.size() == 2);
          check_workspace(list);
          const Pass &clear = list.passes[0], &scan = list.passes[1];
          CHECK(named(scan, "x")->of == Of::Operand);
          CHECK(named(scan, "to")->of == Of::Result);
          CHECK(named(scan, "to")->numel == sequences * length);
          // All that workgroups show each other is cleared: a number, then words of tiles, then of groups.
          const PassBuffer &cleared = *named(clear, "shown"), &shown = *named(scan, "shown");
          CHECK(cleared.numel == shown.numel);
          CHECK(cleared.first == shown.first);
          CHECK(clear.rows == (cleared.numel + 4 * clear.lanes - 1) / (4 * clear.lanes) * clear.lanes);
          CHECK(int_of(clear, "ends") == cleared.numel);
          const std::int64_t items = defined(scan, "ITEMS"), tile = 256 * items,
                             chunks = int_of(scan, "chunks"), groups = int_of(scan, "groups");
          CHECK(items % 2 == 1);  // rows of lanes begin in different banks
          CHECK(defined(scan, "WORDS") == k.words);
          CHECK((tile <= k.most && tile >= k.least));
          CHECK((tile == k.least || sequences * chunks >= 512));
          CHECK(chunks * tile >= length);
          CHECK((chunks - 1) * tile < length);
          CHECK(scan.groups() == sequences * chunks);
          CHECK(groups * 128 >= chunks);
          CHECK((groups - 1) * 128 < chunks);
          CHECK(int_of(scan, "groups_from") == sequences * chunks);
          CHECK(shown.numel == 1 + (sequences * chunks + sequences * groups) * k.words);
          CHECK(32 * defined(scan, "EACH") == defined(scan, "GROUP"));
          CHECK(scan.shared_words >= (tile + 256 + 32 * (defined(scan, "EACH") + 1)) * k.words);
          CHECK(scan.shared_words * 4 <= 40960);
        }
  // Others are as they are elsewhere.
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{15360}})
    CHECK(scan_of(library::ScanKind::Sum, DType::f32, 1, length, 1, {.waits = true}).passes.size() == 1);
  CHECK(scan_of(library::ScanKind::Sum, DType::f32, 1, 100'000, 8, {.waits = true}).passes[0].name ==
        "scan_x_totals");
}

TEST_CASE("scans across lanes have levels that join what the level below comes to, of any size") {
  for (const std::int64_t length : {1, 32, 33, 1024, 1025, 100'000, 2'147'483'647})
    for (const std::int64_t outer : {1, 3})
      for (const std::int64_t inner : {8, 8192, 1 << 17}) {
        CAPTURE(length);
        CAPTURE(outer);
        CAPTURE(inner);
        const PassList list = scan_of(library::ScanKind::Sum, DType::f32, outer, length, inner);
        // Up, then down: totals of each level but the last, which is one chunk; then as many scans and one
        // more.
        const std::size_t ups = list.passes.size() / 2;
        REQUIRE(list.passes.size() == 2 * ups + 1);
        if (inner == 1 << 17) CHECK(ups == 0);  // lanes enough
        std::int64_t elements = length;
        for (std::size_t p = 0; p < ups; ++p) {
          const std::int64_t chunk = int_of(list.passes[p], "chunk"), chunks = (elements + chunk - 1) / chunk;
          CHECK(chunk >= 32);
          CHECK(int_of(list.passes[p], "chunks") == chunks);
          CHECK(list.passes[p].rows == outer * inner * chunks);
          CHECK(written(list.passes[p]).numel == outer * inner * chunks);
          elements = chunks;
        }
        CHECK(elements <= int_of(list.passes[ups], "chunk"));
        const PassBuffer& last = written(list.passes.back());
        CHECK(last.of == Of::Result);
        CHECK(last.numel == outer * length * inner);
        check_workspace(list);
        // What a scan reads as carried is what the scan before it wrote.
        for (std::size_t p = ups + 1; p < list.passes.size(); ++p) {
          const PassBuffer &above = written(list.passes[p - 1]), &carried = *named(list.passes[p], "before");
          CHECK(carried.first == above.first);
          CHECK(carried.numel == above.numel);
        }
      }
}
