"""The experiments of the paper: cells with published values, their runs, and the pages and figures made from them."""
