// The operands of a batched matrix product with any strides. Stands before product.comp.
//
// Words 11..16: strides of a along batch, m, k and of b along batch, k, n.

struct RowOfA { int base; };
struct DepthOfA { int offset; };
struct ColumnOfB { int base; };
struct DepthOfB { int offset; };

// Rows and columns beyond the last are read as the last: nothing is written for them.
RowOfA row_of_a(uint batch, uint m) {
  return RowOfA(int(words[9]) + int(batch) * int(words[11]) + int(min(m, words[0] - 1)) * int(words[12]));
}
DepthOfA depth_of_a(uint k) { return DepthOfA(int(k) * int(words[13])); }
REAL read_a(RowOfA row, DepthOfA depth) { return a[row.base + depth.offset]; }

ColumnOfB column_of_b(uint batch, uint n) {
  return ColumnOfB(int(words[10]) + int(batch) * int(words[14]) + int(min(n, words[1] - 1)) * int(words[16]));
}
DepthOfB depth_of_b(uint k) { return DepthOfB(int(k) * int(words[15])); }
REAL read_b(ColumnOfB column, DepthOfB depth) { return b[column.base + depth.offset]; }

uint place_of_c(uint batch, uint m, uint n) { return (batch * words[0] + m) * words[1] + n; }
