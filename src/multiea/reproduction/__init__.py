"""The paper's experiments: cells with published values, their runs, the pages and figures made of them."""
