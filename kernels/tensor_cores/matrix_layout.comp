// One subgroup tells which of its lanes has which elements of cooperative matrices of 16 x 16. What is put
// before it:
//
//   SN_ELEMENTS  of a matrix that a lane has
//   SN_A         type of a first factor, of 16-bit floats
//   SN_SUM       type of sums, of f32
//
// Element number x of a lane of sums whose elements are their own numbers, row by row, is noted in
// places[lane * SN_ELEMENTS + x]; of a first factor it becomes given[lane * SN_ELEMENTS + x], rounded, and
// its rows are written to `rounded`.
layout(local_size_x = 32, local_size_x_id = 0) in;
layout(std430, binding = 0) buffer Words {
  uint given[256];
  uint places[256];
  uvec4 rounded[32];
  uint elements;
};
shared uvec4 sn_tile[64];

void meet() {
  controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

void main() {
  const uint lane = gl_SubgroupInvocationID, first = lane * SN_ELEMENTS;
  for (uint i = lane; i < 64; i += gl_SubgroupSize)
    sn_tile[i] = floatBitsToUint(vec4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3));
  meet();
  SN_SUM sums;
  coopMatLoadNV(sums, sn_tile, 0, 4, false);
  if (lane == 0) elements = sums.length();
  SN_A factor;
  [[unroll]]
  for (int x = 0; x < SN_ELEMENTS; ++x) {
    places[first + x] = uint(sums[x]);
    factor[x] = float16_t(uintBitsToFloat(given[first + x]));
  }
  meet();
  coopMatStoreNV(factor, sn_tile, 0, 2, false);
  meet();
  for (uint i = lane; i < 32; i += gl_SubgroupSize) rounded[i] = sn_tile[i];
}
