"""The site file: where a source may be, what is measured, and what is known of it beforehand."""

from dowsax.site.parse import parse_site, read_site
from dowsax.site.reference import NEW_SITE, new_site
from dowsax.site.site import Site, build_model

__all__ = ["NEW_SITE", "Site", "build_model", "new_site", "parse_site", "read_site"]
