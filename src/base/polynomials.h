// Coefficients of the polynomials behind the host's f32 functions, lowest power first: one table for the
// block functions (src/runtime/host/maths-inl.h, which says how they are used) and for generated code
// (jit/emit).
//
// Near-minimax fits of ours: weighted least squares on Chebyshev points, in 40 digits.
#pragma once

namespace sinter::base {

/// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2, where the result is exp(r) ...
inline constexpr float kExpPolynomial[] = {0.499999932689f, 0.16666520255f, 0.0416684460625f,
                                           0.00836875835211f, 0.0013811035428f};
/// ... and where it is exp(r) - 1.
inline constexpr float kExpm1Polynomial[] = {0.499999981515f, 0.166665432731f, 0.0416671931425f,
                                             0.00836656932617f, 0.00138831905596f};
/// -ln(erfc(x)) / x for x in [0, 4].
inline constexpr float kErfPolynomial[] = {1.1283791717f,       0.636619374233f,     0.102777926168f,
                                           -0.019153463387f,    -0.000159621538155f, 0.00166622523905f,
                                           -0.000632378949373f, 0.000117506467267f,  -9.24044076879e-6f};
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
/// pi / 2 in parts: multiples by whole numbers below 2^13 of all but the last are exact, so that what is left
/// of an argument near a zero of the function is right to the last place.
inline constexpr float kHalfPi[] = {0x1.92p+0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f};

}  // namespace sinter::base
