// How sorts are cut into passes, for sizes that no test can run.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "src/runtime/passes/passes.h"
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

}  // namespace

namespace {

/// Three passes for each digit, each of which reads what the one before it wrote, and nothing it writes.
void check_digits(const std::vector<Pass>& passes, std::size_t digits, std::size_t workspace_bytes) {
  REQUIRE(passes.size() == 3 * digits);
  for (std::size_t p = 0; p < passes.size(); ++p) {
    for (const PassBuffer& one : passes[p].buffers) {
      if (one.of == Of::Workspace)
        CHECK(static_cast<std::size_t>(one.first + one.numel) * size_of(one.dtype) <= workspace_bytes);
      for (const PassBuffer& other : passes[p].buffers)
        if (&one != &other && (one.written || other.written)) CHECK(!overlap(one, other));
    }
    CHECK(passes[p].shared_words * 4 <= 16384);
    CHECK(passes[p].rows % passes[p].lanes == 0);
  }
  for (std::size_t d = 0; d < digits; ++d) {
    const Pass &count = passes[3 * d], &scan = passes[3 * d + 1], &scatter = passes[3 * d + 2];
    CHECK(overlap(*named(count, "counts"), *named(scan, "counts")));
    CHECK(overlap(*named(scan, "before"), *named(scatter, "before")));
    CHECK(int_of(count, "shift") == int_of(scatter, "shift"));
    // A lane of a scan adds up to 16 counts at a time; 256 lanes go round.
    const std::int64_t blocks = int_of(scan, "blocks");
    CHECK(scan.tiles() == 1);
    CHECK(scan.columns == std::int64_t{1} << scan.width_bits());
    CHECK((scan.columns * 16 >= blocks || scan.columns == 256));
    CHECK((scan.columns == 1 || scan.columns * 8 < blocks));
    CHECK(scan.rows * blocks == named(scan, "counts")->numel);
    CHECK(named(scan, "before")->numel ==
          named(scan, "counts")->numel + named(scan, "counts")->numel / int_of(scan, "blocks"));
    CHECK((int_of(scatter, "flip") == 0 || d + 1 == digits));
    if (d == 0) continue;
    const Pass& before = passes[3 * d - 1];
    CHECK(named(before, "to")->first == named(scatter, "keys")->first);
    CHECK(named(before, "to")->of == named(scatter, "keys")->of);
    CHECK(named(before, "to")->first == named(count, "keys")->first);
    CHECK(named(before, "places")->first == named(scatter, "positions")->first);
    CHECK(named(before, "places")->of == named(scatter, "positions")->of);
  }
}

}  // namespace

TEST_CASE("long sequences are sorted by the digits that their numbers have") {
  struct Numbers {
    DType computed, numbers;
    std::size_t digits;
  };
  for (const Numbers& n : {Numbers{DType::f32, DType::f32, 4}, Numbers{DType::f32, DType::bf16, 2},
                           Numbers{DType::f32, DType::f16, 3}, Numbers{DType::i32, DType::u8, 1},
                           Numbers{DType::i32, DType::i16, 2}, Numbers{DType::i64, DType::u32, 4},
                           Numbers{DType::i64, DType::u64, 8}, Numbers{DType::f64, DType::f64, 8}})
    for (const std::int64_t length : {65536, 3'000'000, 2'147'483'647})
      for (const std::int64_t keep : {length, length - 1})
        for (const bool with_values : {false, true}) {
          CAPTURE(name_of(n.numbers));
          CAPTURE(length);
          CAPTURE(keep);
          library::SortOp op;
          op.x_dtype = n.computed;
          op.numbers = n.numbers;
          op.length = length, op.keep = keep;
          op.with_values = with_values;
          const PassList list = passes_of(op);
          check_digits(list.passes, n.digits, list.workspace_bytes);
          const Pass& last = list.passes.back();
          CHECK(named(last, "places")->of == Of::Result);
          CHECK(named(last, "places")->numel == keep);
          CHECK(int_of(last, "kept") == keep);
          CHECK((named(last, "to") != nullptr) == with_values);
          if (with_values) CHECK(named(last, "to")->number == 1);
        }
  // Of 100 rows an index has 7 bits, of 257 9.
  for (const auto& [rows, digits] : {std::pair(100, 1), std::pair(256, 1), std::pair(257, 2)})
    for (const std::int64_t count : {65536, 2'147'483'647}) {
      PassList list = sort_of(count, rows);
      list.passes.pop_back();  // first_places
      check_digits(list.passes, static_cast<std::size_t>(digits), list.workspace_bytes);
      CHECK(named(list.passes.back(), "places")->of == Of::Result);
      CHECK(named(list.passes.back(), "to")->first == rows);
    }
  library::SortOp op;
  op.outer = op.x_outer = op.keep = op.length = 8192;
  CHECK(passes_of(op).passes.front().name == "count_digits");
  op.x_step = 8192, op.x_outer = 1;  // columns
  CHECK(passes_of(op).passes.front().name == "count_strided_digits");
  op.outer = 10'000'000;  // a grid has no room for a workgroup for each digit of each
  CHECK(passes_of(op).passes.front().name == "sort_runs");
}

namespace {

std::int64_t defined(const Pass& pass, const std::string& name) {
  const std::size_t at = pass.defines.find("#define " + name + " ");
  REQUIRE(at != std::string::npos);
  return std::stoll(pass.defines.substr(at + name.size() + 9));
}

}  // namespace

TEST_CASE("where workgroups may wait, all digits are counted at once, and each is one pass") {
  struct Numbers {
    DType computed, numbers;
    int digits;
    std::int64_t lanes;
  };
  for (const Numbers& n : {Numbers{DType::f32, DType::f32, 4, 512}, Numbers{DType::f32, DType::bf16, 2, 512},
                           Numbers{DType::i32, DType::u8, 1, 512}, Numbers{DType::i64, DType::i64, 8, 256}})
    for (const std::int64_t sequences : {1, 4, 1000})
      for (const std::int64_t length : {n.lanes * 15 * 256, n.lanes * 15 * 63 + 1, std::int64_t{1} << 26})
        for (const bool with_values : {false, true})
          for (const std::int64_t step : {1, 3}) {
            CAPTURE(name_of(n.numbers));
            CAPTURE(sequences);
            CAPTURE(length);
            library::SortOp op;
            op.x_dtype = n.computed, op.numbers = n.numbers;
            op.with_values = with_values;
            op.outer = sequences, op.x_outer = length * step;
            op.x_step = step;
            op.length = length, op.keep = length - 1;
            const PassList list = passes_of(op, {.waits = true});
            const std::int64_t tiles = (length + n.lanes * 15 - 1) / (n.lanes * 15);
            if (sequences * tiles < 256) {
              CHECK(list.passes[0].name != "fill_zeros");
              continue;
            }
            REQUIRE(list.passes.size() == static_cast<std::size_t>(2 + n.digits));
            const Pass &clear = list.passes[0], &count = list.passes[1];
            CHECK(clear.name == "fill_zeros");
            const PassBuffer &cleared = *named(clear, "shown"), &counts = *named(count, "counts");
            CHECK(clear.rows == (cleared.numel + 4 * clear.lanes - 1) / (4 * clear.lanes) * clear.lanes);
            CHECK(int_of(clear, "ends") == cleared.numel);
            CHECK(static_cast<std::size_t>(cleared.first + cleared.numel) * 4 == list.workspace_bytes);
            // Counts of all, then those of each digit's tiles: what is cleared, and nothing twice.
            CHECK(counts.first == cleared.first);
            CHECK(counts.numel == n.digits * sequences * 256);
            const std::int64_t chunk = int_of(count, "chunk"), parts = int_of(count, "parts");
            CHECK(chunk % count.lanes == 0);
            CHECK((chunk * parts >= length && chunk * (parts - 1) < length));
            CHECK(count.rows == sequences * parts * count.lanes);
            CHECK(int_of_or(count, "x_step", 1) == step);
            CHECK(defined(count, "DIGITS") == n.digits);
            CHECK(count.shared_words == n.digits * 256 * defined(count, "COPIES"));
            std::int64_t end = counts.first + counts.numel;
            for (int d = 0; d < n.digits; ++d) {
              const Pass& scatter = list.passes[static_cast<std::size_t>(2 + d)];
              CHECK(scatter.lanes == n.lanes);
              CHECK(scatter.groups() == sequences * tiles);
              CHECK(defined(scatter, "TILE") * tiles >= length);
              CHECK(defined(scatter, "TILE") + 256 <= scatter.shared_words);
              CHECK(2 * defined(scatter, "MASKS") == scatter.shared_words);
              CHECK(named(scatter, "before")->first == counts.first + d * sequences * 256);
              CHECK(named(scatter, "before")->numel == sequences * 256);
              CHECK(named(scatter, "shown")->first == end);
              CHECK(named(scatter, "shown")->numel == (1 + sequences * tiles) * 256);
              end += named(scatter, "shown")->numel;
              CHECK(int_of(scatter, "sums") == 0);
              CHECK(int_of(scatter, "shift") == int_of(count, "first_bit") + 8 * d);
              CHECK((int_of(scatter, "flip") != 0) == (int_of(count, "sign_digit") == d));
              for (const PassBuffer& one : scatter.buffers)
                for (const PassBuffer& other : scatter.buffers)
                  if (&one != &other && (one.written || other.written)) CHECK(!overlap(one, other));
              if (d == 0) continue;
              const Pass& before = list.passes[static_cast<std::size_t>(1 + d)];
              CHECK(named(before, "to")->first == named(scatter, "keys")->first);
              CHECK(named(before, "places")->first == named(scatter, "positions")->first);
            }
            CHECK(end == cleared.first + cleared.numel);
            CHECK(named(list.passes.back(), "places")->of == Of::Result);
            CHECK(int_of(list.passes.back(), "kept") == op.keep);
          }
  library::SortOp op;
  op.length = op.keep = (1 << 30) - 1;
  CHECK(passes_of(op, {.waits = true}).passes[0].name == "fill_zeros");
  op.length = op.keep = 1 << 30;  // counts have 30 bits
  CHECK(passes_of(op, {.waits = true}).passes[0].name == "count_digits");
}

namespace {

PassList sort_rows(std::int64_t sequences, std::int64_t length) {
  library::SortOp op;
  op.outer = sequences;
  op.x_outer = op.length = op.keep = length;
  return passes_of(op);
}

}  // namespace

TEST_CASE("short sequences are sorted in one pass, each or several by a workgroup") {
  for (const std::int64_t length :
       {1, 3, 4, 255, 256, 257, 384, 385, 512, 513, 768, 769, 1024, 1025, 2048, 2049, 4096})
    for (const std::int64_t sequences : {1, 2, 3, 300, 100'000'000}) {
      CAPTURE(length);
      CAPTURE(sequences);
      const PassList list = sort_rows(sequences, length);
      REQUIRE(list.passes.size() == 1);
      CHECK(list.workspace_bytes == 0);
      const Pass& pass = list.passes[0];
      const bool packed = defined(pass, "PACKED") == 1;
      CHECK(packed == (sequences > 256 && length <= 256));  // fewer tiles leave a device idle
      const std::int64_t in_tile = packed ? int_of(pass, "in_tile") : 1,
                         room = pass.lanes * defined(pass, "ITEMS");
      CHECK(in_tile * length <= room);
      CHECK(in_tile <= 256);  // one digit
      CHECK(pass.groups() * in_tile >= sequences);
      CHECK((pass.groups() - 1) * in_tile < sequences);
      if (packed)
        for (std::int64_t place = 0; place < in_tile * length; ++place)
          REQUIRE((place * int_of(pass, "reciprocal") >> 20) == place / length);
      CHECK(int_of(pass, "digits") == (packed ? 5 : 4));
      CHECK(int_of(pass, "sign_digit") == 3);
      // Counts and masks of all teams, or all keys.
      CHECK(pass.shared_words >= room);
      CHECK(pass.shared_words >= 2 * defined(pass, "MASKS"));
      CHECK(pass.shared_words * 4 <= 16384);
      CHECK(defined(pass, "EACH") * pass.lanes == 256);
      if (!packed && length > 384) CHECK(3 * length > 2 * room - 3);
    }
  CHECK(sort_rows(1, 4097).passes.front().name == "sort_runs");
  CHECK(sort_rows(100, 4097).passes.front().name == "count_digits");
}

TEST_CASE("of many rows all tiles are full, or nearly") {
  for (const std::int64_t length : {4097, 5000, 7680, 7681, 8192, 10'000, 11'521, 50'257}) {
    CAPTURE(length);
    const Pass count = sort_rows(256, length).passes.front();
    const std::int64_t tile = defined(count, "TILE"), blocks = int_of(count, "blocks");
    CHECK(tile == 256 * defined(count, "ITEMS"));
    CHECK(tile <= 3840);
    CHECK(count.groups() == 256 * blocks);
    CHECK(tile * blocks >= length);
    CHECK(tile * (blocks - 1) < length);
    CHECK(static_cast<double>(tile * blocks) <= 1.25 * static_cast<double>(length));
  }
}

TEST_CASE("each pass of a sort by runs reads the lists that the one before it wrote") {
  for (const DType dtype : {DType::f32, DType::i64})
    for (const std::int64_t length : {1, 1024, 1025, 8193, 65535})
      for (const std::int64_t kept : {length, length - length / 3}) {
        CAPTURE(length);
        CAPTURE(kept);
        library::SortOp op;
        op.dtype = DType::i32;
        op.x_dtype = dtype;
        op.length = length;
        op.keep = kept;
        const PassList list = passes_of(op);
        REQUIRE(!list.passes.empty());
        std::int64_t bytes = 0;
        for (std::size_t p = 0; p < list.passes.size(); ++p) {
          for (const PassBuffer& buffer : list.passes[p].buffers)
            if (buffer.of == Of::Workspace)
              bytes = std::max(
                  bytes, (buffer.first + buffer.numel) * static_cast<std::int64_t>(size_of(buffer.dtype)));
          if (p == 0) continue;
          const std::vector<PassBuffer>&from = list.passes[p].buffers, &before = list.passes[p - 1].buffers;
          const std::size_t keys = before.size() - 2;  // then positions
          for (std::size_t k = 0; k < 2; ++k) {
            CHECK(from[k].of == before[keys + k].of);
            CHECK(from[k].first == before[keys + k].first);
            CHECK(from[k].dtype == before[keys + k].dtype);
          }
          // Never in place.
          CHECK(written(list.passes[p]).of != Of::Operand);
          CHECK((written(list.passes[p]).of == Of::Result || written(list.passes[p]).first != from[0].first));
        }
        CHECK(static_cast<std::size_t>(bytes) <= list.workspace_bytes);
        CHECK(list.passes.back().buffers.back().of == Of::Result);
        CHECK(list.passes.back().buffers.back().numel == kept);
      }
}

TEST_CASE("the first keys are selected, then sorted alone") {
  struct Numbers {
    DType computed, numbers;
    std::size_t digits;  // of 11 bits
  };
  for (const Numbers& n : {Numbers{DType::f32, DType::f32, 3}, Numbers{DType::f32, DType::bf16, 2},
                           Numbers{DType::f32, DType::f16, 2}, Numbers{DType::i32, DType::boolean, 1},
                           Numbers{DType::i64, DType::i64, 6}})
    for (const std::int64_t length : {129, 16384, 16385, 262'145, 3'000'000, 2'147'483'647})
      for (const std::int64_t sequences : {1, 191, 192, 70'000})
        for (const std::int64_t keep :
             {std::int64_t{1}, std::int64_t{50}, std::int64_t{5000}, (length + 1) / 2}) {
          if (2 * keep > length + 1 || sequences * length > 2'147'483'647) continue;
          CAPTURE(name_of(n.numbers));
          CAPTURE(length);
          CAPTURE(sequences);
          CAPTURE(keep);
          library::SortOp op;
          op.x_dtype = n.computed;
          op.numbers = n.numbers;
          op.outer = sequences, op.length = length, op.keep = keep;
          op.x_outer = length;
          op.with_values = true;
          const PassList list = passes_of(op);
          const std::vector<Pass>& passes = list.passes;
          for (const Pass& pass : passes) {
            for (const PassBuffer& one : pass.buffers) {
              if (one.of == Of::Workspace)
                CHECK(static_cast<std::size_t>(one.first + one.numel) * size_of(one.dtype) <=
                      list.workspace_bytes);
              for (const PassBuffer& other : pass.buffers)
                if (&one != &other && (one.written || other.written)) CHECK(!overlap(one, other));
            }
            CHECK(pass.shared_words * 4 <= 16384);
            if (pass.name.starts_with("select") || pass.name == "sum_counts") {
              CHECK(pass.rows <= 4'294'967'295);  // in 32 bits on Vulkan
              CHECK(pass.rows % pass.lanes == 0);
              CHECK(pass.most_rounds < 60'000);
              CHECK(int_of_or(pass, "kept", keep) == keep);
            }
          }
          const bool shared = length > 262'144 || (length > 16384 && sequences < 192);
          std::size_t last = 0;
          if (shared) {
            last = 2 * n.digits + 1;
            const std::int64_t blocks = int_of(passes[0], "blocks"), chunk = int_of(passes[0], "chunk");
            CHECK((chunk * blocks >= length && chunk * (blocks - 1) < length));
            for (std::size_t digit = 0; digit <= n.digits; ++digit) {
              const Pass& count = passes[2 * digit];
              CHECK(count.name == "select_counts");
              CHECK(int_of(count, "stage") == static_cast<std::int64_t>(digit));
              CHECK(count.rows == sequences * blocks * count.lanes);
              const PassBuffer& counted = written(count);
              CHECK(counted.numel == sequences * blocks * (named(count, "sums")->numel / sequences + 8));
              const Pass& next = passes[std::min(2 * digit + 2, last)];
              CHECK(named(next, "counted")->first == counted.first);
              if (digit == n.digits) continue;
              const Pass& sum = passes[2 * digit + 1];
              CHECK(named(sum, "counts")->first == counted.first);
              CHECK(written(sum).first == named(next, "sums")->first);
              CHECK(sum.rows / sum.lanes * 32 == written(sum).numel);
            }
          }
          REQUIRE(passes.size() > last);
          CHECK(passes[last].name == (shared ? "select_gathers" : "select"));
          const PassBuffer &keys = *named(passes[last], "to"), &positions = *named(passes[last], "places");
          CHECK(keys.numel == sequences * keep);
          CHECK((keep == 1) == (passes.size() == last + 1));
          for (std::size_t p = last + 1; p < passes.size(); ++p)
            if (const PassBuffer* read = named(passes[p], "keys"); read && p <= last + 3)
              CHECK((read->first == keys.first && read->of == keys.of));
          if (keep > 1) CHECK(overlap(*named_first(passes, last + 1, "positions"), positions));
          CHECK(written(passes.back()).of == Of::Result);
          CHECK(written(passes.back()).numel == sequences * keep);
        }
  library::SortOp op;
  op.with_values = true;
  op.length = 128, op.keep = 1;
  CHECK(passes_of(op).passes.front().name == "sort_tiles");
  op.length = 1000, op.keep = 501;
  CHECK(passes_of(op).passes.front().name == "sort_tiles");
  op.keep = 500;
  CHECK(passes_of(op).passes.front().name == "select");
  op.x_step = 3;
  CHECK(passes_of(op).passes.front().name == "select_strided");
}
