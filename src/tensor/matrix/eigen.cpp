// Decompositions by Eigen.
#include <algorithm>
#include <cmath>
#include <string>

#include "src/tensor/matrix/host.h"

#if defined(SINTER_HAS_EIGEN)
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#endif

namespace sinter::tensor {

#if defined(SINTER_HAS_EIGEN)

namespace {

using T = double;  // operands of f32 are widened: one instance of each algorithm, and results that are exact
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Where a matrix has no result: what it is instead.
struct Refused {
  const char* why;
};

/// One matrix of each operand to one of each result.
std::vector<Matrix> compute_one(MatrixFunction function, const std::vector<Matrix>& in) {
  const Matrix& a = in[0];
  const auto finite = [&] {
    if (!a.allFinite()) throw Refused{"has elements that are NaN or infinite"};
  };
  const auto regular = [&](const Eigen::PartialPivLU<Matrix>& lu) {
    finite();
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      if (!(std::abs(lu.matrixLU()(i, i)) > 0)) throw Refused{"is singular"};
  };
  switch (function) {
    case MatrixFunction::Cholesky: {
      const Eigen::LLT<Matrix> llt(a);
      if (llt.info() != Eigen::Success) throw Refused{"is not positive definite"};
      return {Matrix(llt.matrixL())};
    }
    case MatrixFunction::Solve: {
      const Eigen::PartialPivLU<Matrix> lu(a);
      regular(lu);
      if (in[1].cols() == 0) return {in[1]};  // of which Eigen would take the first element's address
      return {lu.solve(in[1])};
    }
    case MatrixFunction::SolveLower:
    case MatrixFunction::SolveUpper: {
      for (Eigen::Index i = 0; i < a.rows(); ++i)
        if (a(i, i) == 0) throw Refused{"is singular"};
      if (in[1].cols() == 0) return {in[1]};
      if (function == MatrixFunction::SolveLower) return {a.triangularView<Eigen::Lower>().solve(in[1])};
      return {a.triangularView<Eigen::Upper>().solve(in[1])};
    }
    case MatrixFunction::Inverse: {
      const Eigen::PartialPivLU<Matrix> lu(a);
      regular(lu);
      return {lu.inverse()};
    }
    case MatrixFunction::Determinant: {
      const Eigen::PartialPivLU<Matrix> lu(a);
      T sign = lu.permutationP().determinant(), logarithm = 0;
      for (Eigen::Index i = 0; i < a.rows(); ++i) {
        const T pivot = lu.matrixLU()(i, i);
        sign *= pivot < 0 ? T(-1) : pivot > 0 ? T(1) : pivot;  // NaN stays
        logarithm += std::log(std::abs(pivot));
      }
      return {Matrix::Constant(1, 1, sign), Matrix::Constant(1, 1, logarithm),
              Matrix::Constant(1, 1, lu.determinant())};
    }
    case MatrixFunction::Lu: {
      const Eigen::PartialPivLU<Matrix> lu(a);
      const Matrix identity = Matrix::Identity(a.rows(), a.rows());
      Matrix lower = lu.matrixLU().triangularView<Eigen::StrictlyLower>();
      lower += identity;
      const Matrix upper = lu.matrixLU().triangularView<Eigen::Upper>();
      const Matrix permutation = lu.permutationP().transpose() * identity;
      return {permutation, lower, upper};
    }
    case MatrixFunction::Qr: {
      const Eigen::Index k = std::min(a.rows(), a.cols());
      const Eigen::HouseholderQR<Matrix> qr(a);
      const Matrix q = qr.householderQ() * Matrix::Identity(a.rows(), k);
      const Matrix r = qr.matrixQR().topRows(k).triangularView<Eigen::Upper>();
      return {q, r};
    }
    case MatrixFunction::Svd: {
      finite();  // of others Eigen leaves the results unwritten
      const Eigen::BDCSVD<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> svd(
          a, Eigen::ComputeThinU | Eigen::ComputeThinV);
      return {svd.matrixU(), svd.singularValues(), svd.matrixV().transpose()};
    }
    case MatrixFunction::SymmetricEigen: {
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(a);
      if (solver.info() != Eigen::Success) throw Refused{"has eigenvalues that were not found"};
      return {solver.eigenvalues(), solver.eigenvectors()};
    }
    case MatrixFunction::Eigen: {
      const Eigen::EigenSolver<Matrix> solver(a);
      if (solver.info() != Eigen::Success) throw Refused{"has eigenvalues that were not found"};
      const auto vectors = solver.eigenvectors();
      return {solver.eigenvalues().real(), solver.eigenvalues().imag(), vectors.real(), vectors.imag()};
    }
  }
  return {};
}

/// The result of an empty matrix: empty ones, and the determinant of nothing, which is 1.
std::vector<Matrix> of_nothing(MatrixFunction function, const std::vector<Matrix>& in) {
  const Eigen::Index m = in[0].rows(), n = in[0].cols();
  switch (function) {
    case MatrixFunction::Determinant:
      return {Matrix::Constant(1, 1, 1), Matrix::Zero(1, 1), Matrix::Constant(1, 1, 1)};
    case MatrixFunction::Lu: return {in[0], in[0], in[0]};
    case MatrixFunction::Qr: return {Matrix(m, 0), Matrix(0, n)};
    case MatrixFunction::Svd: return {Matrix(m, 0), Matrix(0, 1), Matrix(0, n)};
    case MatrixFunction::SymmetricEigen: return {Matrix(0, 1), in[0]};
    case MatrixFunction::Eigen: return {Matrix(0, 1), Matrix(0, 1), in[0], in[0]};
    case MatrixFunction::Solve:
    case MatrixFunction::SolveLower:
    case MatrixFunction::SolveUpper: return {in[1]};
    default: return {in[0]};
  }
}

std::vector<HostMatrices> compute_all(MatrixFunction function, std::string_view name,
                                      const std::vector<HostMatrices>& operands, const Location& where) {
  std::vector<HostMatrices> results;
  const std::int64_t count = operands[0].batch.numel();
  // A batch without matrices has results of the shapes that a unit matrix would have.
  for (std::int64_t i = 0; i < std::max<std::int64_t>(count, 1); ++i) {
    std::vector<Matrix> in;
    for (const HostMatrices& operand : operands) {
      Matrix& matrix = in.emplace_back(Matrix::Identity(operand.rows, operand.columns));
      if (count > 0) std::copy_n(operand.elements.data() + i * matrix.size(), matrix.size(), matrix.data());
    }
    std::vector<Matrix> out;
    try {
      out = in[0].size() == 0 ? of_nothing(function, in) : compute_one(function, in);
    } catch (const Refused& refused) {
      const std::string which = count > 1 ? "matrix " + std::to_string(i) + " of the batch " : "the matrix ";
      throw Error("[" + std::string(name) + "] " + which + refused.why, where);
    }
    results.resize(out.size());
    for (std::size_t r = 0; r < out.size(); ++r) {
      results[r].batch = operands[0].batch;
      results[r].rows = out[r].rows();
      results[r].columns = out[r].cols();
      if (count > 0)
        results[r].elements.insert(results[r].elements.end(), out[r].data(), out[r].data() + out[r].size());
    }
  }
  return results;
}

}  // namespace

std::vector<HostMatrices> compute(MatrixFunction function, std::string_view name,
                                  const std::vector<HostMatrices>& operands, const Location& where) {
  return compute_all(function, name, operands, where);
}

#else

std::vector<HostMatrices> compute(MatrixFunction, std::string_view name, const std::vector<HostMatrices>&,
                                  const Location& where) {
  throw Error("[" + std::string(name) + "] this Sinter was built without Eigen, which decomposes matrices",
              where);
}

#endif

}  // namespace sinter::tensor
