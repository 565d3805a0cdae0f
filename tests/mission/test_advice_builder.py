"""Advice for a searcher whose newest reading is not the newest of all."""

from made_teams import STARTS, team_advisor

from dowsax.mission.messages import answer
from dowsax.mission.stations import Stations
from dowsax.site.schema import SearchSetting

SEARCH = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)


def test_the_station_of_an_earlier_reading_has_those_before_it(monkeypatch):
    """After a correction of ben's his place is planned from his own reading, not from anna's newest."""
    one = team_advisor(search=SEARCH)
    one.observe(STARTS["anna"], 0.1, id="1", searcher="anna")
    one.observe(STARTS["ben"], 0.1, id="1", searcher="ben")
    one.observe((2.0, 3.0), 0.1, id="2", searcher="anna")
    asked = []
    station = Stations.station

    def noted(self, reading, before):
        asked.append((reading, tuple(before)))
        return station(self, reading, before)

    monkeypatch.setattr(Stations, "station", noted)
    answer(one, '{"correct": true, "id": "1", "searcher": "ben", "value": 0.2}')
    last, before = asked[-1]
    assert last.searcher == "ben"
    assert [reading.searcher for reading in before] == ["anna"]
