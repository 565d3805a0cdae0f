"""Sites and survey files for the tests of reading them."""

from dowsax.site import parse_site
from dowsax.survey import read_survey

GAS = '[area]\nlow = [0, 0]\nhigh = [200, 150]\n{area}[field]\nkind = "gas-plume"\n'
COUNTS = '[area]\nlow = [0, 0]\nhigh = [200, 150]\n[field]\nkind = "radiation"\n'
DRONE = (
    "timestamp,latitude,longitude,altitude_ato,windspeed,winddir,temperature,pressure,ch4\n"
    "2024-05-01T10:00:00Z,52.1001,5.1001,10,3,270,12,1013,2.1\n"
    "2024-05-01T10:00:02Z,52.1002,5.1001,11,2,180,12,1013,2.2\n"
)


def gas_site(text="", area=""):
    return parse_site(GAS.format(area=area) + text)


def reader(tmp_path):
    """(text, …) -> the survey in a file that holds it."""

    def read(text, *arguments, **settings):
        path = tmp_path / "readings.csv"
        path.write_bytes(text.encode())
        return read_survey(path, *arguments, **settings)

    return read
