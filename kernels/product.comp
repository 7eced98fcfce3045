// The blocked matrix product behind matmul.comp and conv2d.comp:
//
//   c[batch, m, n] = sum over k of a(batch, m, k) * b(batch, k, n)
//
// Defined before it: REAL and VEC4 (float, vec4 or double, dvec4), TILE_M x TILE_N (of a group), TILE_K,
// LANE_M x LANE_N (of a lane), and as 0 or 1 SHARED (tiles in shared memory), A_ALONG_K and B_ALONG_K
// (neighbouring lanes load neighbours along k), SPLIT (k is dealt out among groups, which write partial
// sums), COMBINE (the pass that adds partial sums).
//
// Words 0..8: m, n, k, batch, tiles along m, tiles along n, splits, depth of a split, groups in all (for
// COMBINE: elements of c); 9 and 10: where a and b begin in their bindings. A sum is taken in the order of k
// and of the splits, so that it is the same on every run.

#if COMBINE

void main() {
  const uint element = gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * LANES);
  if (element >= words[8]) return;
  REAL sum = REAL(0);
  for (uint split = 0; split < words[6]; ++split) sum += a[split * words[8] + element];
  const uint n = element % words[1], rest = element / words[1];
  c[place_of_c(rest / words[0], rest % words[0], n)] = sum;
}

#else

struct Tile { uint batch, m, n, k_begin, k_end, split; };

Tile tile_of_group(uint number) {
  Tile tile;
  tile.m = (number % words[4]) * TILE_M;
  number /= words[4];
  tile.n = (number % words[5]) * TILE_N;
  number /= words[5];
  tile.batch = number % words[3];
  tile.split = number / words[3];
  tile.k_begin = tile.split * words[7];
  tile.k_end = min(tile.k_begin + words[7], words[2]);
  return tile;
}

void write_c(Tile tile, uint m, uint n, REAL value) {
  if (m >= words[0] || n >= words[1]) return;
#if SPLIT
  c[((tile.split * words[3] + tile.batch) * words[0] + m) * words[1] + n] = value;
#else
  c[place_of_c(tile.batch, m, n)] = value;
#endif
}

#if SHARED

// One more column than needed keeps lanes that store along k off each other's banks.
shared VEC4 tile_a[TILE_K][TILE_M / 4 + 1];
shared VEC4 tile_b[TILE_K][TILE_N / 4 + 1];

const uint kLoadsA = TILE_M * TILE_K / LANES, kLoadsB = TILE_N * TILE_K / LANES;
// A lane loads along one direction of a tile only: either its row or its depth is the same for all its loads.
const uint kRowsA = A_ALONG_K == 1 ? kLoadsA : 1, kRowsB = B_ALONG_K == 1 ? kLoadsB : 1;
const uint kDepthsA = A_ALONG_K == 1 ? 1 : kLoadsA, kDepthsB = B_ALONG_K == 1 ? 1 : kLoadsB;

void main() {
  const uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
  if (group >= words[8]) return;
  const Tile tile = tile_of_group(group);
  const uint lane = gl_LocalInvocationIndex;

  const uint a_m = A_ALONG_K == 1 ? lane / TILE_K : lane % TILE_M;
  const uint a_k = A_ALONG_K == 1 ? lane % TILE_K : lane / TILE_M;
  const uint b_n = B_ALONG_K == 1 ? lane / TILE_K : lane % TILE_N;
  const uint b_k = B_ALONG_K == 1 ? lane % TILE_K : lane / TILE_N;
  const uint a_step = A_ALONG_K == 1 ? LANES / TILE_K : LANES / TILE_M;
  const uint b_step = B_ALONG_K == 1 ? LANES / TILE_K : LANES / TILE_N;

  RowOfA rows[kRowsA];
  ColumnOfB columns[kRowsB];
  [[unroll]] for (uint i = 0; i < kRowsA; ++i) rows[i] = row_of_a(tile.batch, tile.m + a_m + i * a_step);
  [[unroll]] for (uint i = 0; i < kRowsB; ++i)
    columns[i] = column_of_b(tile.batch, tile.n + b_n + i * b_step);

  const uint lanes_n = TILE_N / LANE_N;
  const uint lane_m = lane / lanes_n, lane_n = lane % lanes_n;
  VEC4 sums[LANE_M][LANE_N / 4];
  [[unroll]] for (uint i = 0; i < LANE_M; ++i)
    [[unroll]] for (uint j = 0; j < LANE_N / 4; ++j) sums[i][j] = VEC4(0);

  for (uint k0 = tile.k_begin; k0 < tile.k_end; k0 += TILE_K) {
    // Loaded before the barrier, so that memory is waited for while other lanes still compute.
    REAL next_a[kLoadsA], next_b[kLoadsB];
    [[unroll]] for (uint d = 0; d < kDepthsA; ++d) {
      const uint k = k0 + a_k + d * a_step;
      const DepthOfA depth = depth_of_a(min(k, tile.k_end - 1));
      [[unroll]] for (uint i = 0; i < kRowsA; ++i) {
        const REAL value = read_a(rows[i], depth);
        next_a[d * kRowsA + i] = k < tile.k_end ? value : REAL(0);
      }
    }
    [[unroll]] for (uint d = 0; d < kDepthsB; ++d) {
      const uint k = k0 + b_k + d * b_step;
      const DepthOfB depth = depth_of_b(min(k, tile.k_end - 1));
      [[unroll]] for (uint i = 0; i < kRowsB; ++i) {
        const REAL value = read_b(columns[i], depth);
        next_b[d * kRowsB + i] = k < tile.k_end ? value : REAL(0);
      }
    }
    barrier();
    [[unroll]] for (uint d = 0; d < kDepthsA; ++d)
      [[unroll]] for (uint i = 0; i < kRowsA; ++i) {
        const uint m = a_m + i * a_step;
        tile_a[a_k + d * a_step][m / 4][m % 4] = next_a[d * kRowsA + i];
      }
    [[unroll]] for (uint d = 0; d < kDepthsB; ++d)
      [[unroll]] for (uint i = 0; i < kRowsB; ++i) {
        const uint n = b_n + i * b_step;
        tile_b[b_k + d * b_step][n / 4][n % 4] = next_b[d * kRowsB + i];
      }
    barrier();
    [[unroll]] for (uint k = 0; k < TILE_K; ++k) {
      VEC4 b_part[LANE_N / 4];
      [[unroll]] for (uint j = 0; j < LANE_N / 4; ++j) b_part[j] = tile_b[k][lane_n + j * lanes_n];
      [[unroll]] for (uint i = 0; i < LANE_M / 4; ++i) {
        const VEC4 a_part = tile_a[k][lane_m * (LANE_M / 4) + i];
        [[unroll]] for (uint r = 0; r < 4; ++r)
          [[unroll]] for (uint j = 0; j < LANE_N / 4; ++j) sums[i * 4 + r][j] += a_part[r] * b_part[j];
      }
    }
  }

  [[unroll]] for (uint i = 0; i < LANE_M; ++i)
    [[unroll]] for (uint j = 0; j < LANE_N / 4; ++j)
      [[unroll]] for (uint r = 0; r < 4; ++r)
        write_c(tile, tile.m + lane_m * LANE_M + i, tile.n + (lane_n + j * lanes_n) * 4 + r, sums[i][j][r]);
}

#else

// Neighbouring lanes hold neighbouring columns; all lanes of a group have the same rows.
void main() {
  const uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
  if (group >= words[8]) return;
  const Tile tile = tile_of_group(group);
  RowOfA rows[LANE_M];
  ColumnOfB columns[LANE_N];
  REAL sums[LANE_M][LANE_N];
  [[unroll]] for (uint i = 0; i < LANE_M; ++i) {
    rows[i] = row_of_a(tile.batch, tile.m + i);
    [[unroll]] for (uint j = 0; j < LANE_N; ++j) sums[i][j] = REAL(0);
  }
  const uint first = tile.n + gl_LocalInvocationIndex;
  [[unroll]] for (uint j = 0; j < LANE_N; ++j) columns[j] = column_of_b(tile.batch, first + j * LANES);

  for (uint k = tile.k_begin; k < tile.k_end; ++k) {
    const DepthOfA depth_a = depth_of_a(k);
    const DepthOfB depth_b = depth_of_b(k);
    REAL b_part[LANE_N];
    [[unroll]] for (uint j = 0; j < LANE_N; ++j) b_part[j] = read_b(columns[j], depth_b);
    [[unroll]] for (uint i = 0; i < LANE_M; ++i) {
      const REAL a_part = read_a(rows[i], depth_a);
      [[unroll]] for (uint j = 0; j < LANE_N; ++j) sums[i][j] += a_part * b_part[j];
    }
  }

  [[unroll]] for (uint i = 0; i < LANE_M; ++i)
    [[unroll]] for (uint j = 0; j < LANE_N; ++j) write_c(tile, tile.m + i, first + j * LANES, sums[i][j]);
}

#endif
#endif
