// Assignment to parts, concatenation, repetition and rotation: of tensors in memory, computed values, and
// views of one another.
#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

std::vector<DType> moved_dtypes(const Device& device) {
  if (compiles_slowly(device)) return {DType::f32, DType::u8};
  std::vector<DType> dtypes = computed_dtypes(device);
  return dtypes;
}

/// A computed value, so that it is not a load.
int computed(ProgramBuilder& b, int x, DType dtype) {
  return dtype == DType::boolean ? b.unary(Op::Not, x) : b.unary(Op::Neg, x);
}

}  // namespace

TEST_CASE("a part is replaced") {
  const Device device = test_device();
  for (DType dtype : moved_dtypes(device)) {
    ProgramBuilder b;
    const int x = b.input({7, 5}, dtype), y = b.input({3, 5}, dtype), row = b.input({5}, dtype);
    const int small = b.input({3, 2}, dtype), single = b.input({}, dtype), all = b.input({7, 5}, dtype);
    b.slice_assign(x, {{2, 5, 1}}, y);
    b.slice_assign(x, {{-1, 0, -2}}, y);                  // negative step
    b.slice_assign(x, {{0, 6, 2}, {{}, {}, -3}}, small);  // steps of both signs
    b.slice_assign(x, {{1, {}, 3}}, row);                 // broadcasts
    b.slice_assign(x, {{3, 3, 1}}, single);               // nothing
    b.slice_assign(x, {}, all);                           // everything
    b.slice_assign(x, {{{}, {}, -1}}, all);
    b.slice_assign(x, {{4, 5, 1}, {2, 3, 1}}, single);
    b.slice_fill(x, {{}, {1, 4, 1}}, dtype == DType::boolean ? Scalar(true) : Scalar(3));
    // Computed on both sides, through views, and over itself.
    const int c = computed(b, x, dtype), d = computed(b, y, dtype);
    b.slice_assign(c, {{2, 5, 1}}, d);
    b.slice_assign(b.permute(c, {1, 0}), {{}, {4, 7, 1}}, b.permute(d, {1, 0}));
    b.slice_assign(b.slice_assign(c, {{0, 3, 1}}, d), {{2, 5, 1}}, y);
    b.slice_assign(c, {{0, 3, 1}}, b.slice(c, {{4, {}, 1}}));
    b.slice(b.slice_assign(c, {{1, 4, 1}}, d), {{{}, {}, 2}, {1, {}, 1}});
    b.reshape(b.slice_assign(c, {{}, {0, 2, 1}}, b.slice(c, {{}, {3, {}, 1}})), {5, 7});
    b.expect(device, "parts of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("a part that is written in place") {
  const Device device = test_device();
  for (bool large : {false, true}) {  // large: the load skips the replaced part
    ProgramBuilder b;
    int x = b.unary(Op::Neg, b.input({64, 33}, DType::f32));
    b.flush();
    for (int i = 0; i < 3; ++i) {
      const std::int64_t first = large ? 3 : 20 + i, count = large ? 50 : 2;
      const int next = b.slice_assign(x, {{first, first + count, 1}}, b.input({count, 33}, DType::f32));
      b.drop(x);
      x = next;
      b.flush();
    }
    b.expect(device, large ? "a large part" : "a small part");
  }
}

TEST_CASE("one element that is read under a test of each point, and written once") {
  const Device device = test_device();
  ProgramBuilder b;
  const int x = b.unary(Op::Neg, b.input({1}, DType::f32)), z = b.input({7}, DType::f32);
  b.flush();
  const int sum = b.reduce(Op::Sum, z, {0});
  b.binary(Op::Mul, {sum}, {x});  // could be written over x, if the border did not read x later
  const int wide = b.expand(x, {3}), framed = b.pad(wide, {2}, {2}, 0.5);
  b.binary(Op::Add, {framed}, {sum});
  for (int value : {x, wide, framed}) b.drop(value);
  b.expect(device, "one element");
}

TEST_CASE("tensors are joined") {
  const Device device = test_device();
  for (DType dtype : moved_dtypes(device)) {
    ProgramBuilder b;
    const int x = b.input({2, 3}, dtype), y = b.input({4, 3}, dtype), z = b.input({2, 5}, dtype);
    const int empty = b.input({0, 3}, dtype), nothing = b.input({2, 0}, dtype);
    b.cat({x}, 0);
    b.cat({x, y}, 0);
    b.cat({x, y, x}, -2);
    b.cat({x, z, x}, 1);
    b.cat({empty, x, empty, y}, 0);
    b.cat({nothing, z, nothing}, 1);
    b.cat({empty, empty}, 0);
    b.cat({nothing, nothing}, 0);
    b.join(StepKind::Stack, {x, x, x}, 0);
    b.join(StepKind::Stack, {x, b.slice(y, {{1, 3, 1}})}, 1);
    b.join(StepKind::Stack, {x, x}, -1);
    b.join(StepKind::Stack, {nothing, nothing}, 1);
    const int c = computed(b, x, dtype), d = computed(b, y, dtype);
    b.cat({c, d, c}, 0);
    b.cat({b.permute(c, {1, 0}), b.expand(b.slice(d, {{0, 1, 1}}), {3, 3}), b.permute(x, {1, 0})}, 1);
    b.slice(b.cat({c, d, x}, 0), {{1, 7, 1}, {{}, {}, -1}});
    b.permute(b.cat({b.cat({c, d}, 0), b.cat({d, c}, 0)}, 1), {1, 0});
    b.expect(device, "joining of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("what is joined goes on in the same kernel") {
  const Device device = test_device();
  ProgramBuilder b;
  const int x = b.input({6, 8}, DType::f32);
  // Half of each row rotated and negated, as in rotary embeddings.
  const int left = b.slice(x, {{}, {0, 4, 1}}), right = b.slice(x, {{}, {4, 8, 1}});
  const int rotated = b.cat({b.unary(Op::Neg, right), left}, 1);
  b.binary(Op::Add, {b.binary(Op::Mul, {x}, {-1, 0.5})}, {b.binary(Op::Mul, {rotated}, {-1, 0.25})});
  // A reduction over a concatenation, and concatenated reductions.
  b.reduce(Op::Sum, b.cat({x, rotated}, 1), {1});
  b.cat({b.reduce(Op::Sum, x, {1}), b.reduce(Op::Max, rotated, {1}), b.slice(x, {{}, {0, 2, 1}})}, 1);
  b.roll(b.unary(Op::Exp, x), 3, 1);
  b.roll(b.roll(x, -2, 0), 9, 1);
  b.repeat(b.unary(Op::Neg, x), {2, 3});
  b.repeat(x, {1, 1});
  b.repeat(x, {0, 2});
  b.expect(device, "joined");
}

TEST_CASE("long lists are joined") {
  const Device device = test_device();
  for (int count : {17, 40, 100, compiles_slowly(device) ? 101 : 600}) {
    ProgramBuilder b;
    std::vector<int> pieces, slices;
    const int whole = b.input({3, 400}, DType::f32);
    for (int i = 0; i < count; ++i) {
      const int piece = b.input({3, 1 + i % 3}, DType::f32);
      pieces.push_back(i % 4 == 1 ? b.unary(Op::Neg, piece) : piece);
      slices.push_back(b.slice(whole, {{}, {i % 300, i % 300 + 2, 1}}));
    }
    b.cat(pieces, 1);
    b.cat(slices, 1);
    b.join(StepKind::Stack, slices, 0);
    for (int piece : pieces) b.drop(piece);
    b.expect(device, std::to_string(count) + " pieces");
  }
}

TEST_CASE("pieces come apart again") {
  const Device device = test_device();
  std::vector<float> data(30);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const AnyTensor x = tensor_of(data, {3, 10}, device);
  const auto sizes = [](const std::vector<AnyTensor>& pieces) {
    std::vector<std::int64_t> found;
    for (const AnyTensor& piece : pieces) found.push_back(piece.shape()[1]);
    return found;
  };
  CHECK(sizes(x.split(4, 1)) == std::vector<std::int64_t>{4, 4, 2});
  CHECK(sizes(x.chunk(3, -1)) == std::vector<std::int64_t>{4, 4, 2});
  CHECK(sizes(x.chunk(20, 1)).size() == 10);
  const std::int64_t wanted[] = {1, 0, 9};
  CHECK(sizes(x.split(wanted, 1)) == std::vector<std::int64_t>{1, 0, 9});
  const std::vector<AnyTensor> pieces = x.split(3, 1);
  check_close(AnyTensor::cat(pieces, 1), data);
  check_close(pieces[3], {9, 19, 29});
  CHECK(x.reshape({3, 2, 5}).movedim(0, 2).shape() == Shape{2, 5, 3});
  check_close(x.reshape({3, 2, 5}).movedim(-1, 0).movedim(0, 2), data);
}

}  // namespace sinter::testing
