"""One flight: an autopilot goes where the advisor says, within the limits of the site."""
