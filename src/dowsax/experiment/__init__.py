"""Named configurations, run folders and the engines that fill them."""
