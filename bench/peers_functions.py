"""PyTorch on the rows of function-bench: functions of many kinds, each at one size, in milliseconds of a call.

usage: peers_functions.py [--values] [DEVICE] [OURS] [SUBJECT ...]

OURS: what function-bench printed, to be shown beside, or -. At the end come the rows again, those that take us
more than 1.1 times as long first. With --values each row is computed once, from the numbers that function-bench
--values yes gives its rows, and what came out is compared with OURS; rows of random numbers, and of layers with
random weights (lstm_2_layers_both_ways, encoder_layer), differ. A row that fails is printed and left out."""
from function_peers import arrays, functions, layers, mathematics, rows, training

SUBJECTS = (
    arrays.orders, arrays.counts, arrays.scatters, arrays.scans, arrays.images, arrays.reductions, arrays.copies,
    arrays.products, functions.more_scans, functions.places, functions.paddings, functions.searches,
    functions.elements, functions.integers, functions.draws, functions.sums, mathematics.formulas,
    mathematics.decompositions, mathematics.spectra, layers.image_gradients, layers.pools, layers.convolutions,
    layers.losses, layers.norms, training.sequences, training.steps, training.transfers)

for subject in SUBJECTS:
    if rows.arguments[2:] and subject.__name__ not in rows.arguments[2:]:
        continue
    rows.begin_subject()
    try:
        subject()
    except Exception as error:  # its inputs could not be made
        print(f"{subject.__name__}: failed: {error}", flush=True)
rows.print_far()
