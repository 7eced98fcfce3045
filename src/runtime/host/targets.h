// The instruction sets that the host's vector code is compiled for. Include before any Highway header.
#pragma once

// Each target compiles everything once more. On x86: the baseline, AVX2 with FMA, and AVX-512. SSSE3 and SSE4
// serve only processors from before 2013; the targets after AVX-512 add nothing that this code uses.
#if defined(__x86_64__) || defined(__i386__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | SINTER_NEWER_X86_TARGETS)
#endif

#include <hwy/detect_targets.h>

#if defined(HWY_AVX3_ZEN4) && defined(HWY_AVX3_SPR)
#define SINTER_NEWER_X86_TARGETS (HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#elif defined(HWY_AVX3_ZEN4)
#define SINTER_NEWER_X86_TARGETS HWY_AVX3_ZEN4
#else
#define SINTER_NEWER_X86_TARGETS 0
#endif
