"""A survey that is uploaded: each row counts once, and what is wrong is named by its line."""

TABLE = b"x,y,value\n2,2,0.1\n5,4,0.3\n9,8,1.2\n"


def upload(client, mission, data, **kinds):
    return client.post(f"/api/missions/{mission}/survey", content=data, headers={"content-type": "text/csv"})


def readings(client, mission):
    return client.get(f"/api/missions/{mission}").json()["readings"]


def test_rows_are_taken_once(begin, client):
    """Sent again, as the body or in a form, the same file adds nothing."""
    mission = begin()["id"]
    assert upload(client, mission, TABLE).json() == {"taken": 3, "refused": []}
    assert upload(client, mission, TABLE).json() == {"taken": 3, "refused": []}
    form = client.post(f"/api/missions/{mission}/survey", files={"file": ("any.csv", TABLE)})
    assert form.json() == {"taken": 3, "refused": []}
    assert readings(client, mission) == 3


def test_a_survey_is_as_good_as_its_readings_one_by_one(begin, client):
    """The same belief: estimates agree to the last bit."""
    one, other = begin()["id"], begin()["id"]
    upload(client, one, TABLE)
    for line in TABLE.decode().splitlines()[1:]:
        x, y, value = map(float, line.split(","))
        client.post(f"/api/missions/{other}/readings", json={"position": [x, y], "value": value})
    frames = [client.get(f"/api/missions/{mission}/frames/3").json() for mission in (one, other)]
    assert frames[0]["estimate"] == frames[1]["estimate"]
    assert frames[0]["particles"] == frames[1]["particles"]


def test_a_file_that_cannot_be_read_is_refused_with_its_line(begin, client):
    """Script in a cell is a cell that is no number; nothing of the file is taken, no path is told."""
    mission = begin()["id"]
    answer = upload(client, mission, b"x,y,value\n1,1,1\n2,2,<script>alert(1)</script>\n")
    assert answer.status_code == 422
    assert "survey.csv, line 3" in answer.json()["error"]
    assert "/tmp" not in answer.json()["error"]
    for data in (b"", b"\xff\xfe\x00", b"a,b\n1,2\n", b"x,y,value\n" + b"1e400,1,1\n"):
        assert upload(client, mission, data).status_code == 422
    assert readings(client, mission) == 0


def test_too_many_rows_are_refused(begin, client):
    mission = begin()["id"]
    answer = upload(client, mission, b"x,y,value\n" + b"1,1,1\n" * 5001)
    assert answer.status_code == 422
    assert "5000" in answer.json()["error"]


def test_a_form_without_a_file_is_refused(begin, client):
    answer = client.post(f"/api/missions/{begin()['id']}/survey", files={"other": ("any.csv", TABLE)})
    assert answer.status_code == 422
    assert "`file`" in answer.json()["error"]
