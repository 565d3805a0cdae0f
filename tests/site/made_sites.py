"""Site files of a few lines."""

import pytest

from dowsax.site import Site, parse_site

AREA = "[area]\nlow = [0, 0]\nhigh = [200, 150]\n"
DEGREES = "[area]\nsouth = 52.1\nwest = 5.1\nnorth = 52.102\neast = 5.103\n"


def site(text="", kind="gas-plume", area=AREA) -> Site:
    return parse_site(f'{area}[field]\nkind = "{kind}"\n{text}')


def complaint(text):
    """What is wrong with a site, or nothing."""
    try:
        parse_site(text)
    except ValueError as error:
        return str(error)
    return ""


def require_refused(text, reason):
    """The site is refused in one line with file, line, key and what to do."""
    with pytest.raises(ValueError, match=r"^site\.toml") as caught:
        site(text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
