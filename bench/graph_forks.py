"""What a fork in a CUDA graph costs: graphs of kernels that wait a given number of cycles, as PyTorch's streams record
them. usage: graph_forks.py. Prints us for 200 and 100 kernels in a row, for 100 pairs side by side,
and for a chain of 100 with a kernel beside each link."""
import torch


def graph_us(record):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        record()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        record()
    times = []
    for _ in range(6):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        for _ in range(10):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 100)
    return min(times)


def wait_for(waiting, other):
    event = torch.cuda.Event()
    event.record(other)
    waiting.wait_event(event)


def chain(count, cycles):
    for _ in range(count):
        torch.cuda._sleep(cycles)


def beside(side, cycles, each, joins):
    """100 launches, and 100 on another stream, which wait for those before them; joined at each, or at the end."""
    main = torch.cuda.current_stream()
    for i in range(100):
        if each == "pair":
            wait_for(side, main)
        else:
            torch.cuda._sleep(cycles)
            wait_for(side, main)
        with torch.cuda.stream(side):
            torch.cuda._sleep(cycles)
        if each == "pair":
            torch.cuda._sleep(cycles)
        if joins or i == 99:
            wait_for(main, side)


if __name__ == "__main__":
    side = torch.cuda.Stream()
    for cycles in (10, 3000, 8000):
        rows = {
            "200 in a row": lambda: chain(200, cycles),
            "100 in a row": lambda: chain(100, cycles),
            "100 pairs": lambda: beside(side, cycles, "pair", True),
            "chain, one beside each": lambda: beside(side, cycles, "link", False),
        }
        print(cycles, "cycles:", "  ".join(f"{name} {graph_us(record):.1f}" for name, record in rows.items()), flush=True)
