"""The paper's tables and figures, each a named suite: which searches it takes, and what is made of them."""
