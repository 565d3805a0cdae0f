"""The site file: where a source may be, what is measured, and what is known of it beforehand."""

from dowsax.site.site import Site, parse_site, read_site
from dowsax.site.template import NEW_SITE, new_site

__all__ = ["NEW_SITE", "Site", "new_site", "parse_site", "read_site"]
