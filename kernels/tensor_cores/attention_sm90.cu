// Rows of scores on the tensor cores of compute capability 9.0: attention, and its gradients. One lane loads;
// warpgroups have 64 rows of a tile each, and go along the columns. The loading lane also finds out which
// tiles of columns count, and says so beside their data. A workgroup stays for several tiles of rows, so that
// the next one's data come in while one is finished. score_lanes.inc stands before this text, and what is
// written for one kernel (jit/emit/attention):
//
//   SN_ROWS, SN_COLUMNS, SN_SLOTS   a tile's rows and columns; slots of shared memory, a tile of columns each
//   SN_ROW_SLOTS                    tiles of rows in shared memory
//   SN_CONSUMERS                    warpgroups that multiply
//   SN_BYTES_OF_ROWS, SN_BYTES_OF_COLUMNS   that the copy engine brings at once
//   SN_BYTES_OF_SLOT                from one slot to the next
//   SN_LOADERS                      warps of which a lane loads
//   SN_VALUES                       1: there are numbers of columns, which another warp brings
//   SN_COMBINES                     1: there are weights, by which rows are added up
//   SN_FEWER_REGISTERS, SN_MORE_REGISTERS   statements
//
// The lines of three dashes are where its other parts are put in. Factors lie in chunks: a chunk has a line
// of 128 bytes for each row (column), or, where these are added up and of f32, for each element of a vector,
// swizzled by 128 bytes.

// Of a matrix in shared memory, `bytes` beyond `begin`, which is in units of 16 bytes. The next 8 lines lie
// 1024 bytes on, and the next chunk `chunk` bytes.
SN_FN unsigned long long tc_matrix(unsigned begin, unsigned bytes, unsigned chunk) {
  const unsigned place = begin + (bytes >> 4) + (chunk >> 4 << 16), layout = 1024 >> 4 | 1u << 30;
  unsigned long long matrix;
  asm("mov.b64 %0, {%1, %2};" : "=l"(matrix) : "r"(place), "r"(layout));
  return matrix;
}
SN_FN void tc_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
SN_FN void tc_end() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
SN_FN void tc_finish() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
// All but what was begun last: scores, and not the combinations behind them.
SN_FN void tc_finish_scores() {
  if (SN_COMBINES) asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  if (!SN_COMBINES) tc_finish();
}
// What tensor cores have written may be read from here on, and not before.
template <int N>
SN_FN void tc_hold(float (&d)[N]) {
#pragma unroll
  for (int k = 0; k < N; ++k) asm volatile("" : "+f"(d[k])::"memory");
}
// An f32 to shared memory, and the barrier that counts what a lane has copied so.
SN_FN void tc_copy_f32(unsigned to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
SN_FN void tc_arrive_copied(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}
// What is said of a tile of columns, or of rows: the first column, and flags.
#define SN_ALL_SEEN 1
#define SN_MORE 2
#define SN_SKIPPED 4
SN_FN void tc_say(unsigned at, int from, int flags) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(from), "r"(flags) : "memory");
}
SN_FN int2 tc_hear(unsigned at) {
  int2 said;
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(said.x), "=r"(said.y) : "r"(at) : "memory");
  return said;
}
// All lanes of a warp have heard the same, and the compiler is told so.
SN_FN int2 tc_same(int2 said) {
  return make_int2(__shfl_sync(0xffffffffu, said.x, 0), __shfl_sync(0xffffffffu, said.y, 0));
}
// The tile of rows that a workgroup has in a round. Neighbouring tiles, which read the same columns, are done
// together; every other round goes backwards, so that long and short ones even out.
SN_FN int tc_item(int round) {
  const int number = blockIdx.x, all = gridDim.x;
  return round * all + (round % 2 ? all - 1 - number : number);
}
//---
  extern __shared__ unsigned char shared[];
  const unsigned rows_at = (tc_shared_address(shared) + 1023u) & ~1023u;
  const unsigned slots_at = rows_at + SN_ROW_SLOTS * SN_BYTES_OF_ROWS;
  const unsigned rows_here = slots_at + SN_SLOTS * SN_BYTES_OF_SLOT, rows_free = rows_here + 8 * SN_ROW_SLOTS;
  const unsigned full = rows_free + 8 * SN_ROW_SLOTS, empty = full + 8 * SN_SLOTS;
  const unsigned of_rows = empty + 8 * SN_SLOTS, of_slots = of_rows + 8 * SN_ROW_SLOTS;
  if (threadIdx.x == 0) {
    for (int s = 0; s < SN_ROW_SLOTS; ++s) {
      tc_barrier_init(rows_here + 8 * s, 1);
      tc_barrier_init(rows_free + 8 * s, 4 * SN_CONSUMERS);
    }
    for (int s = 0; s < SN_SLOTS; ++s) {
      tc_barrier_init(full + 8 * s, 1 + 32 * SN_VALUES);
      tc_barrier_init(empty + 8 * s, 4 * SN_CONSUMERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  // The same for all lanes of a warp, and the compiler is told so.
  const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0), lane = threadIdx.x % 32;
  int slot = 0;
  unsigned parity = 0;
  if (group == SN_CONSUMERS) {
    SN_FEWER_REGISTERS;
    const int loader = threadIdx.x % 128 / 32;
    const bool brings_values = SN_VALUES && loader == 3;
    if (!brings_values && (lane > 0 || loader >= SN_LOADERS)) return;
    for (int round = 0, item; (item = tc_item(round)) < items; ++round) {
//---
      bool skips = false;
      const auto after = [&](int at) -> int {
        for (; at < size_n && is_skipped(at); at += SN_COLUMNS) skips = true;
        return at;
      };
      int from = after(0), next;
      const int own = round % SN_ROW_SLOTS;
      const unsigned to_rows = rows_at + own * SN_BYTES_OF_ROWS, here = rows_here + 8 * own;
      if (loader == 0) {
        tc_wait(rows_free + 8 * own, (round / SN_ROW_SLOTS & 1) ^ 1);
        tc_say(of_rows + 8 * own, from, (from < size_n ? SN_MORE : 0) | (skips ? SN_SKIPPED : 0));
//---
      }
      for (; from < size_n; from = next) {
        next = after(from + SN_COLUMNS);
        tc_wait(empty + 8 * slot, parity ^ 1);
        const unsigned arrived = full + 8 * slot, to = slots_at + slot * SN_BYTES_OF_SLOT;
        if (brings_values) {
//---
          tc_arrive_copied(arrived);
        } else {
          if (loader == 0)
            tc_say(of_slots + 8 * slot, from,
                   (are_all_seen(from) ? SN_ALL_SEEN : 0) | (next < size_n ? SN_MORE : 0) |
                       (skips ? SN_SKIPPED : 0));
//---
        }
        if (++slot == SN_SLOTS) {
          slot = 0;
          parity ^= 1;
        }
      }
    }
    return;
  }
  SN_MORE_REGISTERS;
  const int column_of_lane = lane % 4 * 2;
  for (int round = 0, item; (item = tc_item(round)) < items; ++round) {
//---
    // A lane has two rows, eight apart, and of each eight columns of a tile two neighbours.
    const int first_row = row_of_tile + group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    const int row_slot = round % SN_ROW_SLOTS;
    const unsigned own_rows = (rows_at + row_slot * SN_BYTES_OF_ROWS + group * 8192) >> 4;
//---
    tc_wait(rows_here + 8 * row_slot, round / SN_ROW_SLOTS & 1);
    int before = -1;  // the slot whose combinations are under way
    int2 said = tc_same(tc_hear(of_rows + 8 * row_slot));
    bool skips = said.y & SN_SKIPPED, is_there = said.y & SN_MORE;
    // The scores of a tile are computed while those of the one before are combined.
    const auto begin_scores = [&] {
      const unsigned columns = (slots_at + slot * SN_BYTES_OF_SLOT) >> 4;
      tc_wait(full + 8 * slot, parity);
      said = tc_hear(of_slots + 8 * slot);
      tc_begin();
//---
      tc_end();
    };
    // What was combined before a tile is done: its slot is free.
    const auto leave_slot = [&] {
      if (before >= 0 && lane == 0) tc_arrive(empty + 8 * before);
    };
    if (is_there) begin_scores();
    said = tc_same(said);
    tc_finish();
    while (is_there) {
      const int from = said.x;
      const bool is_seen = said.y & SN_ALL_SEEN;
      is_there = said.y & SN_MORE;
      skips = said.y & SN_SKIPPED;
      const unsigned columns_at = slots_at + slot * SN_BYTES_OF_SLOT, columns = columns_at >> 4;
      const int own = slot;
//---
      if (++slot == SN_SLOTS) {
        slot = 0;
        parity ^= 1;
      }
      if (is_there) begin_scores();
      if (SN_COMBINES) tc_begin();
//---
      if (SN_COMBINES) tc_end();
      said = tc_same(said);
      tc_finish_scores();
      before = own;
    }
    tc_finish();
    if (lane == 0) {
      if (before >= 0) tc_arrive(empty + 8 * before);
      tc_arrive(rows_free + 8 * row_slot);
    }
//---
  }