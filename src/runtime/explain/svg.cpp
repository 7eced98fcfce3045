// A report as a picture: plain SVG, one section for each trace.
#include <algorithm>

#include <sinter/explain.h>

#include "src/runtime/explain/arrange.h"
#include "src/runtime/explain/words.h"

namespace sinter {
namespace {

using namespace runtime;

constexpr int kMargin = 24, kLaneWidth = 9, kGutter = 112, kBoxWidth = 400, kBoxHeight = 50, kGap = 10;
constexpr int kBarWidth = 190, kNotesWidth = 440;
constexpr std::size_t kMostLines = 40;
// Adjacent lanes have different colours, so that a line can be followed.
constexpr const char* kLaneColours[] = {"#3d6fa8", "#a8563d", "#4c8c4a", "#8a5aa0", "#b08a2e", "#4a8f94"};

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\n': result += c; break;
      // XML allows no other control characters, and file names may contain bytes that are not UTF-8.
      default:
        result += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
    }
  }
  return result;
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// As many operations as fit, then their total count.
std::string fitting_ops(const std::vector<std::string>& ops, std::size_t most) {
  std::string text = ops_text(ops, ops.size());
  for (std::size_t words = 8; words > 1 && text.size() > most; --words) text = ops_text(ops, words);
  return shortened(text, most);
}

std::string text_at(int x, int y, const std::string& style, const std::string& text) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" class=\"" + style + "\">" +
         escaped(text) + "</text>\n";
}

std::string box_at(int x, int y, int width, int height, const std::string& style) {
  return "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
         std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" class=\"" + style + "\"/>\n";
}

std::string title(const std::string& text) { return "<title>" + escaped(text) + "</title>\n"; }

std::string lines_text(const ReportLaunch& launch, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < launch.lines.size() && i < most; ++i)
    text += (i ? ", " : "") + place_text(launch.lines[i]);
  if (launch.lines.size() > most) text += " +" + std::to_string(launch.lines.size() - most);
  return text;
}

/// The tooltip of a launch: everything about it.
std::string tip_text(const ReportLaunch& launch, std::size_t number) {
  std::string text = std::to_string(number) + "  " + kind_text(launch) + ": reads " +
                     bytes_text(launch.bytes_read) + ", writes " + bytes_text(launch.bytes_written) + "\n";
  for (const ReportLine& line : launch.lines)
    text += place_text(line) + "  " + ops_text(line.ops, line.ops.size()) + "\n";
  for (const ReportAccess& access : launch.accesses)
    text += access.written ? "writes " + access_text(access, access.bytes_written) + "\n"
                           : "reads " + access_text(access, access.bytes_read) + "\n";
  return text;
}

std::string values_text(const ReportLaunch& launch, bool written) {
  std::string text;
  for (const ReportAccess& access : launch.accesses) {
    if (access.written != written) continue;
    // A value from another launch has an arrow, which shows its size.
    text += (text.empty() ? "" : ", ") + access.label;
    if (written || !access.written_by)
      text += " " + bytes_text(written ? access.bytes_written : access.bytes_read);
    if (!access.over.empty()) text += " over " + access.over;
  }
  return text.empty() ? "nothing" : text;
}

class Section {
 public:
  Section(const ReportTrace& trace, int top) : trace_(trace), top_(top) {
    layout_ = layout_of(trace, top + 78, kBoxHeight, kGap);
    boxes_x_ = kMargin + (layout_.lanes > 0 ? static_cast<int>(layout_.lanes) * kLaneWidth + kGutter : 0);
    for (const ReportLaunch& launch : trace.launches)
      most_bytes_ = std::max(most_bytes_, launch.bytes_read + launch.bytes_written);
  }

  int width() const { return boxes_x_ + kBoxWidth + kBarWidth + kNotesWidth + kMargin; }
  int bottom() const {
    return layout_.bottom + list_height(held_.size()) + list_height(trace_.cuts.size()) + 20;
  }

  std::string draw() const {
    std::string text = text_at(kMargin, top_ + 20, "head",
                               trace_.device + ": " + size_text(trace_) + ", " + times_text(trace_));
    text += text_at(kMargin, top_ + 40, "sub", traffic_text(trace_));
    text += text_at(kMargin, top_ + 57, "sub", memory_text(trace_));
    for (const Flow& flow : layout_.flows) text += draw(flow);
    for (std::size_t i = 0; i < trace_.launches.size(); ++i) text += draw(trace_.launches[i], i);
    text += list("Held, but not asked for", held_, layout_.bottom);
    std::vector<std::string> cuts;
    for (const ReportCut& cut : trace_.cuts) cuts.push_back(cut_text(cut));
    text += list("Stayed apart", cuts, layout_.bottom + list_height(held_.size()));
    return text;
  }

 private:
  static int list_height(std::size_t lines) {
    return lines == 0 ? 0 : 28 + 16 * static_cast<int>(std::min(lines, kMostLines + 1));
  }
  static std::string list(const char* head, const std::vector<std::string>& lines, int top) {
    if (lines.empty()) return "";
    std::string text = text_at(kMargin, top + 18, "strong", head);
    for (std::size_t i = 0; i < lines.size() && i <= kMostLines; ++i)
      text += text_at(kMargin, top + 36 + 16 * static_cast<int>(i), "code",
                      i < kMostLines
                          ? lines[i]
                          : "and " + std::to_string(lines.size() - i) + " more, in the text and the JSON");
    return text;
  }

  std::string draw(const Flow& flow) const {
    const int lane = kMargin + (static_cast<int>(layout_.lanes - flow.lane) - 1) * kLaneWidth;
    const int edge = boxes_x_;
    const std::string colour = kLaneColours[flow.lane % std::size(kLaneColours)];
    const std::string x = std::to_string(lane), to = std::to_string(edge);
    std::string path =
        "M" + to + " " + std::to_string(flow.leaves) + "H" + x + "V" + std::to_string(flow.enters.back());
    std::string heads;
    for (int y : flow.enters) {
      path += "M" + x + " " + std::to_string(y) + "H" + std::to_string(edge - 6);
      heads += "M" + to + " " + std::to_string(y) + "l-7 -4v8z";
    }
    std::string text = "<g stroke=\"" + colour + "\" fill=\"" + colour + "\">\n" + title(flow.tip);
    text += "<path d=\"" + path + "\" class=\"flow\"/>\n<path d=\"" + heads + "\" stroke=\"none\"/>\n";
    text += "</g>\n";
    text +=
        text_at(edge - kGutter + 6, flow.leaves - 2, "flowtext", flow.label + " " + bytes_text(flow.bytes));
    for (int y : flow.enters) text += text_at(edge - kGutter + 6, y - 2, "flowtext", flow.label);
    return text;
  }

  std::string draw(const ReportLaunch& launch, std::size_t number) const {
    const Box& box = layout_.boxes[number];
    const bool kernel = launch.kind == ReportLaunch::Kind::Kernel;
    std::string text = "<g>\n" + title(tip_text(launch, number));
    text += box_at(boxes_x_, box.top, kBoxWidth, box.height, kernel ? "kernel" : "library");
    const std::string name = "#" + std::to_string(number) + " " +
                             (kernel ? "kernel " + std::to_string(launch.kernel) : std::string("library"));
    text += text_at(boxes_x_ + 10, box.top + 19, "strong", name);
    const std::string each = launch.members > 1 ? std::to_string(launch.members) + " members: " : "";
    text += text_at(boxes_x_ + 110, box.top + 19, "code", each + fitting_ops(launch.ops, 42 - each.size()));
    text += text_at(boxes_x_ + 10, box.top + 39, "place", shortened(lines_text(launch, 3), 40));
    if (launch.in_place_bytes > 0) {
      text += box_at(boxes_x_ + kBoxWidth - 132, box.top + 27, 124, 17, "inplace");
      text += text_at(boxes_x_ + kBoxWidth - 126, box.top + 39, "tag",
                      "in place " + bytes_text(launch.in_place_bytes));
    }

    const int x = boxes_x_ + kBoxWidth + 16;
    const std::int64_t moved = launch.bytes_read + launch.bytes_written;
    text += box_at(x, box.top + 6, length(moved), 12, "moved");
    if (launch.least_bytes > 0) text += box_at(x, box.top + 6, length(launch.least_bytes), 12, "least");
    text +=
        text_at(x, box.top + 36, "place", bytes_text(moved) + ", needed " + bytes_text(launch.least_bytes));
    const int notes = x + kBarWidth;
    text += text_at(notes, box.top + 16, "place", shortened("reads  " + values_text(launch, false), 64));
    text += text_at(notes, box.top + 36, "place", shortened("writes " + values_text(launch, true), 64));
    return text + "</g>\n";
  }

  int length(std::int64_t bytes) const {
    if (most_bytes_ == 0) return 1;
    const double part = static_cast<double>(bytes) / static_cast<double>(most_bytes_);
    return std::max(1, static_cast<int>(part * (kBarWidth - 20)));
  }

  const ReportTrace& trace_;
  const std::vector<std::string> held_ = held_texts(trace_);
  int top_;
  Layout layout_;
  int boxes_x_ = 0;
  std::int64_t most_bytes_ = 0;
};

constexpr const char* kStyle = R"(<style>
text { font-family: "DejaVu Sans", Verdana, Arial, sans-serif; fill: #1f2933 }
.page { fill: #ffffff }
.head { font-size: 15px; font-weight: bold }
.sub { font-size: 12px; fill: #3e4c59 }
.strong { font-size: 12px; font-weight: bold }
.code, .place, .flowtext { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace }
.code { font-size: 11px }
.place { font-size: 10.5px; fill: #52606d }
.flowtext { font-size: 9.5px; fill: #3e4c59; stroke: #ffffff; stroke-width: 3px; paint-order: stroke }
.tag { font-size: 10px; fill: #7a4100 }
.kernel { fill: #e8f1fb; stroke: #3d6fa8; rx: 5px }
.library { fill: #efe7f6; stroke: #8a5aa0; rx: 5px }
.inplace { fill: #ffe3bf; stroke: #d98a1f; rx: 8px }
.moved { fill: #c5d3e0 }
.least { fill: #3d6fa8 }
.flow { fill: none; stroke-width: 1.4px }
.rule { stroke: #d5dbe1 }
g:hover > .flow { stroke-width: 3px }
</style>
)";

std::string legend(int y) {
  int x = kMargin;
  std::string text;
  auto entry = [&](const std::string& style, const std::string& name, int width) {
    text += box_at(x, y - 10, 16, 12, style) + text_at(x + 22, y, "sub", name);
    x += width;
  };
  entry("kernel", "generated kernel", 150);
  entry("library", "library operation", 150);
  entry("inplace", "written in place", 145);
  entry("least", "bytes no plan can save", 185);
  entry("moved", "bytes moved beyond them", 200);
  return text + text_at(x, y, "sub", "arrows: values between launches; point at anything for all of it");
}

}  // namespace

std::string Report::to_svg() const {
  const std::string head = traces.empty() ? "Nothing was handed to a device"
                                          : count_text(launches(), "launch", "launches") + " of " +
                                                count_text(traces.size(), "plan", "different plans");
  int width = 1290, y = 76;
  std::string body;
  for (const ReportTrace& trace : traces) {
    body += "<line x1=\"" + std::to_string(kMargin) + "\" x2=\"100%\" y1=\"" + std::to_string(y) +
            "\" y2=\"" + std::to_string(y) + "\" class=\"rule\"/>\n";
    const Section section(trace, y + 8);
    body += section.draw();
    width = std::max(width, section.width());
    y = section.bottom();
  }
  const std::string size = std::to_string(width) + "\" height=\"" + std::to_string(y);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
         size + "\" viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(y) + "\">\n" + kStyle +
         "<rect width=\"100%\" height=\"100%\" class=\"page\"/>\n" + text_at(kMargin, 34, "head", head) +
         legend(58) + body + "</svg>\n";
}

}  // namespace sinter
