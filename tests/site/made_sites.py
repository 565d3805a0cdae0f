"""Site files of a few lines."""

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
