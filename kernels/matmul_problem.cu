// The matrix product c[z, m, n] = sum over k of a[z, m, k] b[z, k, n], as a kernel is told of it.

struct Problem {
  i64 batch, m, n, k;
  i64 k_per_split, splits;
  i64 first_block;
  i64 a_batch, a_row, a_column;
  i64 b_batch, b_row, b_column;
  int a_along_k, b_along_k;  // else along the other dim
  int a_vector, b_vector, c_vector;
};
