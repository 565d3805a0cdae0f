"""The tables and figures of the paper: for each a list of runs, and what is made of them."""
