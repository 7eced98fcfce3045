// Rows of scores on tensor cores on which each warp multiplies by itself (compute capability 8.0 and later):
// attention, and its gradients. A warp has 16 rows of a workgroup's tile, and goes along the columns with the
// others; all lanes copy tiles of columns, some slots ahead of the one that is multiplied. The loads of
// matrix_loads_sm80.inc, score_lanes.inc and lane_copies_sm80.inc stand before this text, and what is written
// for one kernel (jit/emit/attention):
//
//   SN_ROWS, SN_COLUMNS, SN_SLOTS   a tile's rows and columns; slots of shared memory, a tile of columns each
//   SN_LANES                        of a workgroup
//   SN_BYTES_OF_ROWS                of a tile's rows
//   SN_BYTES_OF_SLOT                from one slot to the next
//   Factors_DTYPE                   what tc_dot_DTYPE and tc_combine_DTYPE multiply: kHalves, whether that is
//                                   16 bits, not tf32, and one instruction, multiply(d, a, b)
//
// The lines of three dashes are where its other parts are put in. Factors lie in chunks: a chunk has a line
// of 128 bytes for each row (column), or, where these are added up and of f32, for each element of a vector.
// The 16-byte pieces of a line are swapped by its number, so that the eight lines of an 8x8 matrix are in
// different banks.

#ifndef LAUNCH_SHARED
#define LAUNCH_SHARED(type, name) extern __shared__ __align__(1024) type name[]
#endif

// A matrix in shared memory: its lines begin at `lines`, what is multiplied of them at the 16-byte piece
// `piece`, and the next chunk `chunk` bytes on.
struct Matrix {
  unsigned lines;
  int piece;
  unsigned chunk;
};
SN_FN Matrix tc_matrix(unsigned begin, unsigned bytes, unsigned chunk) {
  return {begin + bytes / 128 * 128, int(bytes % 128 / 16), chunk};
}
template <class Factors>
SN_FN void tc_round(unsigned (&words)[4]) {
  if (Factors::kHalves) return;
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = tc_tf32(__uint_as_float(words[i]));
}
// The scores of a warp's 16 rows: a step of both factors, 32 bytes, or more of them.
template <class Factors, int N>
SN_FN void tc_dot(float (&d)[N], Matrix a, Matrix b, int more) {
  const int line = threadIdx.x % 8, matrix = threadIdx.x / 8 % 4, high = matrix / 2, low = matrix % 2;
  unsigned rows[4];
  tc_load_matrices(rows, a.lines + (low * 8 + line) * 128 + ((a.piece + high ^ line) << 4));
  tc_round<Factors>(rows);
#pragma unroll
  for (int sixteen = 0; sixteen < N / 8; ++sixteen) {
    unsigned columns[4];
    tc_load_matrices(columns,
                     b.lines + (sixteen * 16 + high * 8 + line) * 128 + ((b.piece + low ^ line) << 4));
    tc_round<Factors>(columns);
#pragma unroll
    for (int eight = 0; eight < 2; ++eight) {
      float* const sums = d + sixteen * 8 + eight * 4;
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] = more ? sums[i] : 0.f;
      Factors::multiply(sums, rows, columns + eight * 2);
    }
  }
}
// To 16 rows of sums the weights of a step's columns times their vectors. Of 16-bit floats a line is a
// column's vector, of f32 an element of all of them.
template <class Factors, int N>
SN_FN void tc_combine(float (&d)[N], const unsigned* w, Matrix b) {
  const int line = threadIdx.x % 8, matrix = threadIdx.x / 8 % 4, high = matrix / 2, low = matrix % 2;
  // Of a row's two weights of f32 the instruction takes the first, with that of the other row, before the
  // second; weights of 16 bits are two in one.
  const unsigned weights[4] = {w[0], w[Factors::kHalves ? 1 : 2], w[Factors::kHalves ? 2 : 1], w[3]};
#pragma unroll
  for (int element = 0; element < 2 * N; element += 16) {
    const bool has_second = element + 8 < 2 * N;
    unsigned vectors[4];
    if (Factors::kHalves)
      tc_load_transposed(vectors, b.lines + element / 64 * b.chunk + (low * 8 + line) * 128 +
                                      ((element % 64 / 8 + high ^ line) << 4));
    else
      tc_load_matrices(vectors, b.lines + (element + (has_second ? high * 8 : 0) + line) * 128 +
                                    ((b.piece + low ^ line) << 4));
    tc_round<Factors>(vectors);
    Factors::multiply(d + element / 2, weights, vectors);
    if (has_second) Factors::multiply(d + element / 2 + 4, weights, vectors + 2);
  }
}
//---
  LAUNCH_SHARED(unsigned char, shared);
  const unsigned rows_at = tc_shared_address(shared), slots_at = rows_at + SN_BYTES_OF_ROWS;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, item = blockIdx.x;
//---
  bool skips = false;
  const auto after = [&](int at) -> int {
    for (; at < size_n && is_skipped(at); at += SN_COLUMNS) skips = true;
    return at;
  };
  const auto bring_columns = [&](int from, unsigned to) {
//---
  };
  int from = after(0), ahead = from, slot = 0;
//---
#pragma unroll
  for (int s = 0; s < SN_SLOTS - 1; ++s) {
    if (ahead < size_n) {
      bring_columns(ahead, slots_at + s * SN_BYTES_OF_SLOT);
      ahead = after(ahead + SN_COLUMNS);
    }
    tc_commit();
  }
  // A lane has two rows, eight apart, and of each eight columns of a tile two neighbours.
  const int first_row = row_of_tile + warp * 16 + lane / 4, column_of_lane = lane % 4 * 2;
  const unsigned own_rows = rows_at + warp * 2048;
//---
  while (from < size_n) {
    if (SN_SLOTS == 1) {
      __syncthreads();
      bring_columns(from, slots_at);
      tc_commit();
    }
    tc_wait_all_but<SN_SLOTS == 1 ? 0 : SN_SLOTS - 2>();
    // All have what was copied, and nobody reads the slot before any more, which is filled next.
    __syncthreads();
    if (SN_SLOTS > 1) {
      if (ahead < size_n) {
        bring_columns(ahead, slots_at + (slot == 0 ? SN_SLOTS - 1 : slot - 1) * SN_BYTES_OF_SLOT);
        ahead = after(ahead + SN_COLUMNS);
      }
      tc_commit();
    }
    const bool is_seen = are_all_seen(from);
    const unsigned columns = slots_at + slot * SN_BYTES_OF_SLOT, columns_at = columns;
//---
    if (++slot == SN_SLOTS) slot = 0;
    from = after(from + SN_COLUMNS);
  }
  tc_wait_all_but<0>();  // where all is masked rows may still be on their way
//---
