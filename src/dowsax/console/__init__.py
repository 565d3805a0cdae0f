"""The mission console: a server that keeps many searches at once, and the page to watch and steer them."""

from dowsax.extras import require_extra

require_extra("console", "`dowsax.console`")
