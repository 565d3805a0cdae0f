"""One real search: the site and its survey files, advice reading by reading, and what comes out of it."""

from dowsax.mission.frame import Frame
from dowsax.mission.site import Site, parse_site, read_site
from dowsax.mission.site_template import NEW_SITE, new_site
from dowsax.mission.survey import Survey, read_survey

__all__ = ["NEW_SITE", "Frame", "Site", "Survey", "new_site", "parse_site", "read_site", "read_survey"]
