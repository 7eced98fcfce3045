// Coefficients of the host's polynomial approximations, lowest power first: one table for the interpreter's
// functions (src/runtime/host/maths/maths-inl.h, which documents their use) and for generated code
// (jit/emit).
//
// Near-minimax fits: weighted least squares on Chebyshev points, computed with 40 digits.
#pragma once

#include <cstdint>

namespace sinter::base {

inline constexpr double kQuadrantsPerUnit = 0.6366197723675814;  // 2 / pi
inline constexpr double kLog2E = 1.4426950408889634;

/// Constants of the exponential functions in f32 and f64.
template <class T>
struct Exponentials;

template <>
struct Exponentials<float> {
  static constexpr int kMantissa = 23, kBias = 127;
  /// Adding it to a number below 2^22 rounds that to an integer, which the sum's low bits hold.
  static constexpr double kShift = 12582912;  // 1.5 * 2^23
  /// ln 2 and its half, as a sum of two parts: the relevant integer multiples of the first part are exact.
  static constexpr float kLn2[] = {0.693359375f, -2.12194440e-4f};
  static constexpr float kHalfLn2[] = {kLn2[0] / 2, kLn2[1] / 2};
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2, where the result is exp(r) ...
  static constexpr float kExp[] = {0.499999932689f, 0.16666520255f, 0.0416684460625f, 0.00836875835211f,
                                   0.0013811035428f};
  /// ... and where it is exp(r) - 1.
  static constexpr float kExpm1[] = {0.499999981515f, 0.166665432731f, 0.0416671931425f, 0.00836656932617f,
                                     0.00138831905596f};
  /// (exp(2r) - 1 - 2r) / (2 r^2) for |r| <= ln 2 / 4: kExpm1 in 2r.
  static constexpr float kTanh[] = {2 * kExpm1[0], 4 * kExpm1[1], 8 * kExpm1[2], 16 * kExpm1[3],
                                    32 * kExpm1[4]};
  /// Beyond these bounds, exp is 0 and infinity, exp(x) - 1 is -1 and exp(x), tanh is 1, sigmoid is 1 and 0.
  /// exp is 0 from -104 on. At its bound, which -infinity becomes, each factor of its power of two is 0: a
  /// product of two small numbers takes a hundred cycles on Intel's processors where it is not normal, and
  /// each score that a mask hides was one.
  static constexpr double kExpLeast = -176, kExpMost = 89;
  static constexpr double kExpm1Least = -40, kExpm1Most = 20;
  static constexpr double kTanhMost = 9.1;
  static constexpr double kSigmoidLeast = -69, kSigmoidMost = 105.4;
  /// Numerator and denominator of sigmoid's fraction are divided by 2 to this power.
  static constexpr int kSigmoidScale = 24;
};

template <>
struct Exponentials<double> {
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kShift = 6755399441055744;  // 1.5 * 2^52
  static constexpr double kLn2[] = {0x1.62e42fee00000p-1, 0x1.a39ef35793c76p-33};
  static constexpr double kHalfLn2[] = {kLn2[0] / 2, kLn2[1] / 2};
  static constexpr double kExp[] = {0.5,
                                    0.16666666666666682,
                                    0.0416666666666661,
                                    0.008333333333317058,
                                    0.0013888888889111578,
                                    0.00019841269896312346,
                                    2.4801586932587024e-05,
                                    2.7557234940998415e-06,
                                    2.755757815674932e-07,
                                    2.511200767274579e-08,
                                    2.0827419809155594e-09};
  static constexpr double kExpm1[] = {0.5,
                                      0.16666666666666677,
                                      0.04166666666666652,
                                      0.008333333333321718,
                                      0.0013888888888957548,
                                      0.00019841269885897755,
                                      2.480158718179834e-05,
                                      2.755724444494405e-06,
                                      2.7557395062643693e-07,
                                      2.510895389363038e-08,
                                      2.087756853322027e-09};
  static constexpr double kTanh[] = {2 * kExpm1[0],   4 * kExpm1[1],    8 * kExpm1[2],    16 * kExpm1[3],
                                     32 * kExpm1[4],  64 * kExpm1[5],   128 * kExpm1[6],  256 * kExpm1[7],
                                     512 * kExpm1[8], 1024 * kExpm1[9], 2048 * kExpm1[10]};
  static constexpr double kExpLeast = -1418.2, kExpMost = 710;
  static constexpr double kExpm1Least = -50, kExpm1Most = 45;
  static constexpr double kTanhMost = 19.2;
  static constexpr double kSigmoidLeast = -650, kSigmoidMost = 747.2;
  static constexpr int kSigmoidScale = 54;
};

/// (1 - 2^-r) / r for |r| <= 1/2.
inline constexpr float kExp2Polynomial[] = {0.693147182465f,    -0.240226492286f,  0.0555035732687f,
                                            -0.00961823761463f, 0.00133907585405f, -0.000154034874868f};
/// -log2(erfc(x)) / x for x in [0, 4].
inline constexpr float kErfPolynomial[] = {1.62790703773f,     0.918447613716f,     0.148277059197f,
                                           -0.0276320148259f,  -0.000231432524743f, 0.00240504462272f,
                                           -0.00091300951317f, 0.000169726117747f,  -1.33546345751e-05f};
/// -(1 + log2(Phi(-x))) / x for x in [0, 6], Phi being the distribution function of the standard normal
/// distribution: 2^(-1 - x p(x)) is within 1e-7 of it, and within 0.12% of itself. Beyond 6 it falls for
/// ever.
inline constexpr float kNdtrPolynomial[] = {1.15110826492f,      0.459172338247f,    0.0526306740940f,
                                            -0.00729042151943f,  0.000331867719069f, 9.85285323929e-05f,
                                            -1.99007135961e-05f, 1.16375758807e-06f};
/// (ln(1 + f) - f + f^2 / 2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)).
inline constexpr float kLogPolynomial[] = {0.333333317988f,  -0.250008184648f, 0.200012129691f,
                                           -0.166234247895f, 0.142021336022f,  -0.131599896948f,
                                           0.127588736288f,  -0.0763150037721f};
/// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, for |r| <= pi / 4.
inline constexpr float kSinPolynomial[] = {-0.166666548726f, 0.00833217480516f, -0.000195169685289f};
inline constexpr float kCosPolynomial[] = {0.0416666470416f, -0.00138873754394f, 2.44392969481e-5f};

/// (arctan(u) - u) / u^3 in u^2, for |u| <= tan(pi / 8).
inline constexpr float kAtanPolynomial[] = {-0.333333332793f, 0.199999772587f,   -0.142841511936f,
                                            0.110713650219f,  -0.0862467614525f, 0.0504813851208f};
/// pi / 2 as a sum of parts: multiples by integers below 2^13 of all but the last are exact, so that the
/// reduced argument is exact to the last place near zeros of the function.
inline constexpr float kHalfPi[] = {0x1.92p+0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f};

// f64. The first two are for powers of f32 and accurate to 2^-45 and 2^-40.
/// log2((1 + s) / (1 - s)) / s in s^2, for (1 + s) / (1 - s) in [sqrt(1/2), sqrt(2)).
inline constexpr double kLog2Polynomial[] = {2.88539008177785,   0.9617966941133992, 0.5770779423473246,
                                             0.4122092542674706, 0.3199056144099,    0.2829014094418219};
/// 2^r for |r| <= 1/2.
inline constexpr double kPowerOf2Polynomial[] = {
    0.9999999999997625,     0.6931471805464949,    0.24022650698878975,
    0.0555041093942541,     0.009618128543073758,  0.001333345197976646,
    0.00015403851569684146, 1.530975966011258e-05, 1.3175912707827929e-06};
/// (ln((1 + s) / (1 - s)) - 2s) / s^3 in s^2, for the same numbers, accurate to 2^-59.
inline constexpr double kLog64Polynomial[] = {0.6666666666666734,  0.39999999999414204, 0.28571428742496197,
                                              0.22222198561611628, 0.1818356495293292,  0.1531403383740544,
                                              0.1479612381685528};
inline constexpr std::int64_t kShift64Bits = 0x4338000000000000;  // of Exponentials<double>::kShift
inline constexpr std::int64_t kSqrtHalf64Bits = 0x3fe6a09e667f3bcd;

}  // namespace sinter::base
