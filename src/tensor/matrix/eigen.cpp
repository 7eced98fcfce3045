// Eigenvalues of matrices that need not be symmetric, by Eigen.
#include "src/tensor/matrix/host.h"

#if defined(SINTER_HAS_EIGEN)
#include <Eigen/Eigenvalues>
#endif

namespace sinter::tensor {

#if defined(SINTER_HAS_EIGEN)

bool has_general_eigen() { return true; }

const char* general_eigen(std::int64_t n, const double* a, double* real_values, double* imaginary_values,
                          double* real_vectors, double* imaginary_vectors) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::EigenSolver<Matrix> solver(Eigen::Map<const Matrix>(a, n, n));
  if (solver.info() != Eigen::Success) return "has eigenvalues that were not found";
  const auto vectors = solver.eigenvectors();
  Eigen::Map<Eigen::VectorXd>(real_values, n) = solver.eigenvalues().real();
  Eigen::Map<Eigen::VectorXd>(imaginary_values, n) = solver.eigenvalues().imag();
  Eigen::Map<Matrix>(real_vectors, n, n) = vectors.real();
  Eigen::Map<Matrix>(imaginary_vectors, n, n) = vectors.imag();
  return nullptr;
}

#else

bool has_general_eigen() { return false; }

const char* general_eigen(std::int64_t, const double*, double*, double*, double*, double*) { return nullptr; }

#endif

}  // namespace sinter::tensor
