// Errors throw at once, in one sentence with the values, and name the line of the call.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/functions/activation.h>
#include <sinter/functions/linalg.h>
#include <sinter/functions/read.h>
#include <sinter/functions/statistics.h>

using namespace sinter;

namespace {

/// The message of the E that `f` throws; the line in it must be `line`.
template <class E, class F>
std::string message(int line, F f) {
  try {
    f();
  } catch (const E& error) {
    const std::string text = error.what();
    const std::string place = "tensor_errors_test.cpp:" + std::to_string(line) + ")";
    CAPTURE(text);
    CHECK(text.ends_with(place));
    return text.substr(0, text.rfind(" ("));
  }
  return "nothing of that type was thrown";
}

}  // namespace

// The call is on the line of the macro, so that is the expected line.
#define MESSAGE_OF(E, call) message<E>(__LINE__, [&] { (void)(call); })

TEST_CASE("shapes that do not fit") {
  const Device d = Device::host();
  const auto x = Tensor<2>::zeros({2, 3}, d);
  const auto y = Tensor<2>::zeros({4, 3}, d);
  CHECK(MESSAGE_OF(ShapeError, x + y) == "[add] shapes do not broadcast: (2, 3) and (4, 3)");
  CHECK(MESSAGE_OF(ShapeError, x == y) == "[equal] shapes do not broadcast: (2, 3) and (4, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.maximum(y)) == "[maximum] shapes do not broadcast: (2, 3) and (4, 3)");
  CHECK(MESSAGE_OF(ShapeError, where(x > 0, x, y)) == "[where] shapes do not broadcast: (2, 3) and (4, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.reshape({4, 2})) == "[reshape] (2, 3) has 6 elements, (4, 2) holds 8");
  CHECK(MESSAGE_OF(ShapeError, x.reshape({4, -1})) ==
        "[reshape] no size makes (4, -1) hold the 6 elements of shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.permute({0, 0})) == "[permute] an axis of (2, 3) is named twice in (0, 0)");
  CHECK(MESSAGE_OF(ShapeError, x.transpose(0, 2)) == "[transpose] there is no axis 2 in shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.sum(-3)) == "[sum] there is no axis -3 in shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.expand({2, 4})) == "[expand] (2, 3) does not expand to (2, 4)");
  CHECK(MESSAGE_OF(ShapeError, x.squeeze(1)) == "[squeeze] axis 1 of shape (2, 3) is not of size 1");
  CHECK(MESSAGE_OF(ShapeError, x.slice({s(0, 1, 0)})) == "[slice] the step of axis 0 of shape (2, 3) is 0");
  CHECK(MESSAGE_OF(ShapeError, x.narrow(1, 2, 2)) ==
        "[narrow] 2 elements from 2 on are outside of axis 1 of shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.windows(0, 3, 1)) ==
        "[windows] no windows of size 3 and step 1 fit into axis 0 of shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.item()) == "[item] a tensor of shape (2, 3) is not one number");
  CHECK(MESSAGE_OF(ShapeError, Tensor<1>(x.dynamic())) ==
        "[Tensor] a tensor of shape (2, 3) does not have rank 1");
  CHECK(MESSAGE_OF(ShapeError, Tensor<2>::zeros({0, 3}, d).max(0)) ==
        "[max] axis 0 of shape (0, 3) has no element");
  CHECK(MESSAGE_OF(ShapeError, Tensor<2>::from_data({{1, 2}, {3}}, d)) ==
        "[from_data] rows differ in length: 2 and 1");
  CHECK(MESSAGE_OF(ShapeError, Tensor<2>::from_data(std::vector<float>{1, 2, 3}, {2, 2}, d)) ==
        "[from_data] shape (2, 2) holds 4 elements, the data 3");
  CHECK(MESSAGE_OF(ShapeError, Tensor<1>::zeros({-1}, d)) == "[full] sizes are zero or more, not (-1)");
}

TEST_CASE("products that do not fit") {
  const Device d = Device::host();
  const auto a = Tensor<2>::zeros({32, 64}, d), b = Tensor<2>::zeros({128, 16}, d);
  CHECK(MESSAGE_OF(ShapeError, a.matmul(b)) == "[matmul] inner dimensions differ: (32, 64) x (128, 16)");
  const auto c = Tensor<3>::zeros({2, 3, 4}, d), e = Tensor<3>::zeros({3, 4, 5}, d);
  CHECK(MESSAGE_OF(ShapeError, matmul(c, e)) ==
        "[matmul] leading dimensions do not broadcast: (2, 3, 4) x (3, 4, 5)");
  CHECK(MESSAGE_OF(DTypeError, a.matmul(b.cast(DType::f64))) ==
        "[matmul] dtypes differ: f32 and f64; cast one of them");
  const auto x = Tensor<4>::zeros({1, 3, 8, 8}, d);
  CHECK(MESSAGE_OF(ShapeError, x.conv2d(Tensor<4>::zeros({8, 1, 3, 3}, d))) ==
        "[conv2d] input (1, 3, 8, 8) has 3 channels, weight (8, 1, 3, 3) with 1 group(s) takes 1");
  CHECK(MESSAGE_OF(ShapeError, x.conv2d(Tensor<4>::zeros({8, 3, 9, 1}, d))) ==
        "[conv2d] weight (8, 3, 9, 1) reaches over 9 elements, input (1, 3, 8, 8) has 8 with padding");
}

TEST_CASE("parts and pieces that do not fit") {
  const Device d = Device::host();
  const auto x = Tensor<2>::zeros({4, 3}, d), y = Tensor<2>::zeros({2, 5}, d);
  CHECK(MESSAGE_OF(ShapeError, x.slice_assign({s(0, 2)}, y)) ==
        "[slice_assign] a value of shape (2, 5) does not fit the part (2, 3) of shape (4, 3)");
  CHECK(MESSAGE_OF(DTypeError, x.slice_assign({s(0, 2)}, y.cast(DType::f64))) ==
        "[slice_assign] dtypes differ: f32 and f64; cast one of them");
  CHECK(MESSAGE_OF(DTypeError, x.to_int().dynamic().slice_fill({}, 0.5)) ==
        "[slice_fill] the number 0.5 is not a value of dtype i64; cast the tensor first");
  CHECK(MESSAGE_OF(ShapeError, Tensor<2>::cat({x, x, y}, 0)) ==
        "[cat] shapes differ in more than axis 0: (4, 3) and (2, 5), the one at position 2");
  CHECK(MESSAGE_OF(DTypeError,
                   AnyTensor::cat({{x.to_int().cast(DType::u64).dynamic(), x.to_int().dynamic()}}, 0)) ==
        "[cat] no integers hold both u64 and i64; cast one of them");
  CHECK(MESSAGE_OF(ShapeError, Tensor<2>::cat({x, x}, 2)) == "[cat] there is no axis 2 in shape (4, 3)");
  CHECK(MESSAGE_OF(ShapeError, Tensor<2>::cat(std::vector<Tensor<2>>(), 0)) ==
        "[cat] there is nothing to join");
  CHECK(MESSAGE_OF(ShapeError, Tensor<2>::stack({x, y}, 0)) ==
        "[stack] shapes differ: (4, 3) and (2, 5), the one at position 1");
  CHECK(MESSAGE_OF(ShapeError, x.split({1, 2}, 0)) ==
        "[split] sizes that sum to 3 do not divide axis 0 of shape (4, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.chunk(0, 0)) == "[chunk] shape (4, 3) is not divided into 0 pieces");
  CHECK(MESSAGE_OF(ShapeError, x.repeat({2, -1})) ==
        "[repeat] (2, -1) does not repeat shape (4, 3): one count, zero or more, for each axis");
}

TEST_CASE("errors of composed functions name the function that was called") {
  const AnyTensor x = AnyTensor::full({2, 3}, 1, DType::f32, Device::host());
  CHECK(MESSAGE_OF(ShapeError, softmax(x, 2)) == "[softmax] there is no axis 2 in shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, log_softmax(x, -3)) == "[log_softmax] there is no axis -3 in shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, logsumexp(x, 2)) == "[logsumexp] there is no axis 2 in shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, cosine_similarity(x, x, 3)) ==
        "[cosine_similarity] there is no axis 3 in shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.select(1, 3)) == "[select] index 3 is outside of axis 1 of shape (2, 3)");
  CHECK(MESSAGE_OF(ShapeError, x.select(0, -3)) == "[select] index -3 is outside of axis 0 of shape (2, 3)");
}

TEST_CASE("what is assigned to a part has to fit it") {
  Tensor<1> x = Tensor<1>::ones({3}, Device::host());
  const Tensor<1> three = x;
  CHECK(MESSAGE_OF(ShapeError, x(s(0, 2)) = three) ==
        "[index] a value of shape (3) does not fit the part (2) of shape (3)");
  const Tensor<1, Int> at = Tensor<1, Int>::zeros({2}, Device::host());
  CHECK(MESSAGE_OF(ShapeError, x(at) = three) ==
        "[index] a value of shape (3) does not fit the part (2) of shape (3)");
  CHECK_NOTHROW(x(s(0, 2)) = Tensor<1>::ones({1}, Device::host()));
}

TEST_CASE("one axis too many") {
  const AnyTensor x = AnyTensor::full({1, 2, 1, 1, 1, 1, 1, 2}, 1, DType::f32, Device::host());
  const std::string rest =
      "one axis more than shape (1, 2, 1, 1, 1, 1, 1, 2) has: a tensor has at most 8 axes";
  CHECK(MESSAGE_OF(ShapeError, x.unsqueeze(0)) == "[unsqueeze] " + rest);
  CHECK(MESSAGE_OF(ShapeError, AnyTensor::stack(std::vector{x, x}, 0)) == "[stack] " + rest);
  CHECK(MESSAGE_OF(ShapeError, x.windows(0, 1, 1)) == "[windows] " + rest);
  CHECK(MESSAGE_OF(ShapeError, outer(x, x)) == "[outer] " + rest);
  CHECK(MESSAGE_OF(ShapeError, diag_embed(x)) == "[diag_embed] " + rest);
}

TEST_CASE("dtypes that do not fit") {
  const Device d = Device::host();
  const auto x = Tensor<1>::zeros({2}, d);
  const auto i = Tensor<1, Int>::zeros({2}, d);
  CHECK(MESSAGE_OF(DTypeError, i.cast(DType::u64) * i) ==
        "[mul] no integers hold both u64 and i64; cast one of them");
  CHECK(MESSAGE_OF(DTypeError, AnyTensor::add(i.dynamic(), 1.5)) ==
        "[add] the number 1.5 is not a value of dtype i64; cast the tensor first");
  CHECK(MESSAGE_OF(DTypeError, i.cast(DType::i32) + 3000000000) ==
        "[add] the number 3000000000 is not a value of dtype i32; cast the tensor first");
  CHECK_NOTHROW(AnyTensor::add(i.dynamic(), 2.0));
  CHECK(MESSAGE_OF(DTypeError, i.dynamic().exp()) == "[exp] takes floats, not i64; cast first");
  CHECK(MESSAGE_OF(DTypeError, (x > 0).dynamic().neg()) ==
        "[neg] takes floats or integers, not bool; cast first");
  CHECK(MESSAGE_OF(DTypeError, (x > 0).dynamic().max(0)) ==
        "[max] takes floats or integers, not bool; cast first");
  CHECK(MESSAGE_OF(DTypeError, x.dynamic().logical_not()) ==
        "[not] takes bool or integers, not f32; cast first");
  CHECK(MESSAGE_OF(DTypeError, i.cast(DType::u8) + 256) ==
        "[add] the number 256 is not a value of dtype u8; cast the tensor first");
  CHECK(MESSAGE_OF(DTypeError, i.cast(DType::i8) - 129) ==
        "[sub] the number 129 is not a value of dtype i8; cast the tensor first");
  CHECK(MESSAGE_OF(DTypeError, i.cast(DType::u64) + -1) ==
        "[add] the number -1 is not a value of dtype u64; cast the tensor first");
  CHECK(MESSAGE_OF(DTypeError, x.cast(DType::i32)) == "[Tensor] i32 is not a dtype of kind Float");
  CHECK(MESSAGE_OF(DTypeError, x.to_vector<double>()) == "[to_vector] the tensor holds f32, not f64");
  CHECK(MESSAGE_OF(DTypeError, (Tensor<1, Int>(x.dynamic()))) ==
        "[Tensor] a tensor of dtype f32 is not of kind Int");
  CHECK(MESSAGE_OF(DTypeError, x.dynamic().gather(0, x.dynamic())) ==
        "[gather] the index is i32 or i64, not f32");
}

TEST_CASE("operators name their own line, inside functions and in long expressions") {
  const auto x = Tensor<1>::zeros({2}, Device::host()), y = Tensor<1>::zeros({3}, Device::host());
  const auto f = [&](const Tensor<1>& a, const Tensor<1>& b) {
    const auto c = 1 + a.exp() * 2;
    return (c - b / 3) % 2;
  };
  const int line = __LINE__ - 2;
  CHECK(message<ShapeError>(line, [&] { f(x, y); }) == "[sub] shapes do not broadcast: (2) and (3)");
}

TEST_CASE("reads of empty handles name the line that reads") {
  const Tensor<1> empty, x = Tensor<1>::zeros({2}, Device::host());
  const std::string why = "the tensor is empty: it was declared, or moved from, and never given a value";
  CHECK(message<Error>(__LINE__, [&] { sinter::read(x, empty); }) == "[read] " + why);
  CHECK(message<Error>(__LINE__, [&] { sinter::read(empty); }) == "[read] " + why);
  CHECK(message<Error>(__LINE__, [&] { sinter::read(std::vector{x, empty}); }) == "[read] " + why);
  CHECK(message<Error>(__LINE__, [&] { sinter::read(x, x.dynamic(), AnyTensor()); }) == "[read] " + why);
  CHECK(message<Error>(__LINE__, [&] { empty.to_data(); }) == "[read] " + why);
  CHECK(message<Error>(__LINE__, [&] { empty.to_vector<float>(); }) == "[to_vector] " + why);
  CHECK(message<Error>(__LINE__, [&] { empty.item(); }) == "[item] " + why);
}

TEST_CASE("empty handles and only numbers") {
  const Tensor<1> empty;
  const auto x = Tensor<1>::zeros({2}, Device::host());
  CHECK(MESSAGE_OF(Error, empty + x) ==
        "[add] the tensor is empty: it was declared, or moved from, and never given a value");
  CHECK(MESSAGE_OF(Error, empty.exp()) ==
        "[exp] the tensor is empty: it was declared, or moved from, and never given a value");
  CHECK(MESSAGE_OF(Error, AnyTensor::add(1, 2)) ==
        "[add] needs a tensor among its operands; both are numbers");
}

TEST_CASE("tensors of different devices") {
  const auto x = Tensor<1>::zeros({2}, Device::host()), y = Tensor<1>::zeros({2}, Device::null());
  CHECK(MESSAGE_OF(DeviceError, x + y) ==
        "[add] operands live on different devices: host and null; move one with to_device");
  CHECK_NOTHROW(x + x.to_device(Device::host().autodiff()));
}

TEST_CASE("autodiff asked where there is none") {
  const Device d = Device::host(), a = Device::host().autodiff();
  const auto plain = Tensor<1>::ones({1}, d), constant = Tensor<1>::ones({1}, a);
  const auto leaf = Tensor<1>::ones({2}, a).require_grad();
  CHECK(MESSAGE_OF(AutodiffError, plain.backward()) ==
        "[backward] device host was used without autodiff, so nothing remembers where this value came from; "
        "make the "
        "parameters on device.autodiff()");
  CHECK(MESSAGE_OF(AutodiffError, constant.backward()) ==
        "[backward] the tensor has no history: nothing that it was computed from has require_grad(), "
        "or it was computed under NoGrad");
  CHECK(MESSAGE_OF(AutodiffError, (leaf * 2).backward()) ==
        "[backward] gradients are taken of one number, not of shape (2); reduce it first, as in "
        "loss.mean().backward(), or give a seed of that shape");
  CHECK(MESSAGE_OF(AutodiffError, leaf.to_int().dynamic().backward()) ==
        "[backward] gradients are taken of floats, not i64");
  CHECK(MESSAGE_OF(AutodiffError, plain.require_grad()) ==
        "[require_grad] device host was used without autodiff; make the tensor on device.autodiff()");
  const auto trunk = leaf * leaf;
  const auto loss = trunk.sum(), other = trunk.mean();
  loss.backward();
  const std::string again =
      "[backward] the history of this tensor, or of a part of it, was used up by an earlier backward(): "
      "call that one as backward({.keep_history = true}), or add the losses up and call backward() once";
  CHECK(MESSAGE_OF(AutodiffError, loss.backward()) == again);
  CHECK(MESSAGE_OF(AutodiffError, other.backward()) == again);
  Gradients gradients = leaf.sum().backward();
  CHECK_THROWS_AS(gradients.get(trunk), AutodiffError);
  CHECK_THROWS_AS(gradients.set(leaf, Tensor<1>::ones({3}, d)), ShapeError);
  CHECK_THROWS_AS(gradients.set(plain, plain), AutodiffError);
}
