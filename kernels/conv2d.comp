// The operands of a convolution and its two gradients, seen as a product of matrices for each group of
// channels. Stands before product.comp, which gives the rest. DIRECTION: 0 forward, 1 gradient of the input,
// 2 gradient of the weight.
//
//              m           n               k               a          b
//   forward    c_out       image, y, x     c_in, i, j      weight     x
//   input      c_in        image, y, x     c_out, i, j     weight     grad
//   weight     c_out       c_in, i, j      image, y, x     grad       x
//
// c_in and c_out are those of one group; i, j run over the kernel's window.

// Sizes.
const uint kH = 11, kW = 12, kOh = 13, kOw = 14, kIn = 15, kOut = 16, kKh = 17, kKw = 18;
// Steps are dilations.
const uint kStrideY = 19, kStrideX = 20, kPadY = 21, kPadX = 22, kStepY = 23, kStepX = 24;
const uint kGroups = 25;
// Divisors.
const uint kByTaps = 26, kByKw = 28, kByPixels = 30, kByRow = 32, kByStrideY = 34, kByStrideX = 36;

// x / d for x < 2^31, by the multiplier and shift that the host made for d.
uint divided(uint x, uint divisor) {
  uint high, low;
  umulExtended(x << 1, words[divisor], high, low);
  return high >> words[divisor + 1];
}

// Rows and columns beyond the last are read as the last: nothing is written for them.
uint last_or(uint number, uint count) { return min(number, count - 1); }

struct Window { uint channel, i, j; };
Window window_of(uint number) {
  const uint channel = divided(number, kByTaps);
  const uint tap = number - channel * words[kKh] * words[kKw];
  const uint i = divided(tap, kByKw);
  return Window(channel, i, tap - i * words[kKw]);
}

struct Pixel { uint image, y, x; };
Pixel pixel_of(uint number, uint pixels, uint width) {  // of images of this many pixels
  const uint image = divided(number, kByPixels);
  const uint rest = number - image * pixels;
  const uint y = divided(rest, kByRow);
  return Pixel(image, y, rest - y * width);
}

#if DIRECTION == 0

struct RowOfA { uint base; };
struct DepthOfA { uint offset; };
RowOfA row_of_a(uint group, uint m) {
  return RowOfA(words[9] + (group * words[0] + last_or(m, words[0])) * words[2]);
}
DepthOfA depth_of_a(uint k) { return DepthOfA(k); }
REAL read_a(RowOfA row, DepthOfA depth) { return a[row.base + depth.offset]; }

struct ColumnOfB { uint base; int y, x; };
struct DepthOfB { uint base; int y, x; };
ColumnOfB column_of_b(uint group, uint n) {
  const Pixel at = pixel_of(last_or(n, words[1]), words[kOh] * words[kOw], words[kOw]);
  const uint plane = (at.image * words[kGroups] + group) * words[kIn];
  return ColumnOfB(words[10] + plane * words[kH] * words[kW], int(at.y * words[kStrideY]) - int(words[kPadY]),
                   int(at.x * words[kStrideX]) - int(words[kPadX]));
}
DepthOfB depth_of_b(uint k) {
  const Window at = window_of(k);
  return DepthOfB(at.channel * words[kH] * words[kW], int(at.i * words[kStepY]), int(at.j * words[kStepX]));
}
REAL read_b(ColumnOfB column, DepthOfB depth) {
  const int y = column.y + depth.y, x = column.x + depth.x;
  const bool inside = uint(y) < words[kH] && uint(x) < words[kW];
  const REAL value = b[inside ? column.base + depth.base + uint(y) * words[kW] + uint(x) : words[10]];
  return inside ? value : REAL(0);
}

uint place_of_c(uint group, uint m, uint n) {
  const uint pixels = words[kOh] * words[kOw];
  const uint image = divided(n, kByPixels);
  return ((image * words[kGroups] + group) * words[0] + m) * pixels + n - image * pixels;
}

#elif DIRECTION == 1

struct RowOfA { uint base; };
struct DepthOfA { uint offset; };
RowOfA row_of_a(uint group, uint m) {
  const uint channel = group * words[kOut] * words[kIn] + last_or(m, words[0]);
  return RowOfA(words[9] + channel * words[kKh] * words[kKw]);
}
DepthOfA depth_of_a(uint k) {
  const uint taps = words[kKh] * words[kKw];
  const uint channel = divided(k, kByTaps);
  return DepthOfA(channel * words[kIn] * taps + k - channel * taps);
}
REAL read_a(RowOfA row, DepthOfA depth) { return a[row.base + depth.offset]; }

struct ColumnOfB { uint base; int y, x; };
struct DepthOfB { uint base; int y, x; };
ColumnOfB column_of_b(uint group, uint n) {
  const Pixel at = pixel_of(last_or(n, words[1]), words[kH] * words[kW], words[kW]);
  const uint plane = (at.image * words[kGroups] + group) * words[kOut];
  return ColumnOfB(words[10] + plane * words[kOh] * words[kOw], int(at.y + words[kPadY]),
                   int(at.x + words[kPadX]));
}
DepthOfB depth_of_b(uint k) {
  const Window at = window_of(k);
  return DepthOfB(at.channel * words[kOh] * words[kOw], int(at.i * words[kStepY]), int(at.j * words[kStepX]));
}
REAL read_b(ColumnOfB column, DepthOfB depth) {
  const int y = column.y - depth.y, x = column.x - depth.x;
  const uint oy = divided(uint(max(y, 0)), kByStrideY), ox = divided(uint(max(x, 0)), kByStrideX);
  const bool on_grid = int(oy * words[kStrideY]) == y && int(ox * words[kStrideX]) == x;
  const bool inside = on_grid && oy < words[kOh] && ox < words[kOw];
  const REAL value = b[inside ? column.base + depth.base + oy * words[kOw] + ox : words[10]];
  return inside ? value : REAL(0);
}

uint place_of_c(uint group, uint m, uint n) {
  const uint pixels = words[kH] * words[kW];
  const uint image = divided(n, kByPixels);
  return ((image * words[kGroups] + group) * words[0] + m) * pixels + n - image * pixels;
}

#else

struct RowOfA { uint base; };
struct DepthOfA { uint offset; };
RowOfA row_of_a(uint group, uint m) {
  return RowOfA(words[9] + (group * words[kOut] + last_or(m, words[0])) * words[kOh] * words[kOw]);
}
DepthOfA depth_of_a(uint k) {
  const uint pixels = words[kOh] * words[kOw];
  const uint image = divided(k, kByPixels);
  return DepthOfA(image * words[kGroups] * words[kOut] * pixels + k - image * pixels);
}
REAL read_a(RowOfA row, DepthOfA depth) { return a[row.base + depth.offset]; }

struct ColumnOfB { uint base; int y, x; };
struct DepthOfB { uint base; int y, x; };
ColumnOfB column_of_b(uint group, uint n) {
  const Window at = window_of(last_or(n, words[1]));
  return ColumnOfB(words[10] + (group * words[kIn] + at.channel) * words[kH] * words[kW],
                   int(at.i * words[kStepY]) - int(words[kPadY]),
                   int(at.j * words[kStepX]) - int(words[kPadX]));
}
DepthOfB depth_of_b(uint k) {
  const Pixel at = pixel_of(k, words[kOh] * words[kOw], words[kOw]);
  return DepthOfB(at.image * words[kGroups] * words[kIn] * words[kH] * words[kW], int(at.y * words[kStrideY]),
                  int(at.x * words[kStrideX]));
}
REAL read_b(ColumnOfB column, DepthOfB depth) {
  const int y = column.y + depth.y, x = column.x + depth.x;
  const bool inside = uint(y) < words[kH] && uint(x) < words[kW];
  const REAL value = b[inside ? column.base + depth.base + uint(y) * words[kW] + uint(x) : words[10]];
  return inside ? value : REAL(0);
}

uint place_of_c(uint group, uint m, uint n) { return (group * words[0] + m) * words[1] + n; }

#endif
