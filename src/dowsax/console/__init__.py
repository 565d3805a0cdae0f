"""The mission console: a server that keeps many searches at once, and the page to watch and steer them."""
