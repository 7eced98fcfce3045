// Phrases that the text report and the picture share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sinter/explain.h>

namespace sinter::runtime {

/// "512 B", "1.5 KiB", "24.0 MiB"
std::string bytes_text(std::int64_t bytes);
/// "1 launch", "3 launches"
std::string count_text(std::uint64_t count, const std::string& one, const std::string& many);
/// "main.cpp:12"
std::string place_text(const ReportLine& line);
/// "sub exp sum", consecutive repeats as "mul x3"; after `most` words "... (31 ops)" with the total count.
std::string ops_text(const std::vector<std::string>& ops, std::size_t most);
/// "kernel 2", "kernel 2 for 8 members", "library"
std::string kind_text(const ReportLaunch& launch);
/// "57 operations, 28 launches (23 kernels, 5 library)"
std::string size_text(const ReportTrace& trace);
/// "ran 64 times, planned once"
std::string times_text(const ReportTrace& trace);
/// "moves 3.2 MiB; the least possible is 2.1 MiB (1.52x)"
std::string traffic_text(const ReportTrace& trace);
/// "peak 4.0 MiB: 1.0 MiB inputs, 2.0 MiB results, 1.0 MiB temporaries; 512 KiB written in place"
std::string memory_text(const ReportTrace& trace);
/// "tmp0 = mul (64, 32) f32, 8.0 KiB, in place of in0"
std::string access_text(const ReportAccess& access, std::int64_t bytes);
/// The held values that were not asked for: all that needs a word.
std::vector<std::string> held_texts(const ReportTrace& trace);
/// "sum main.cpp:4 | div main.cpp:5: reductions over different dimensions (3 times)"
std::string cut_text(const ReportCut& cut);

}  // namespace sinter::runtime
