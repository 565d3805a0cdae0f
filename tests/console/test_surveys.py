"""A survey that is uploaded: each row counts once, and what is wrong is named by its line."""

TABLE = b"x,y,value\n2,2,0.1\n5,4,0.3\n9,8,1.2\n"


def upload(client, mission, data, **kinds):
    return client.post(f"/api/missions/{mission}/survey", content=data, headers={"content-type": "text/csv"})


def readings(client, mission):
    return client.get(f"/api/missions/{mission}").json()["readings"]


def test_rows_are_taken_once(begin, client):
    """Sent again, as the body or in a form, the same file adds nothing, and is known; the log says so."""
    mission = begin()["id"]
    rest = {"refused": [], "skipped": 0, "notes": []}
    assert upload(client, mission, TABLE).json() == {"new": 3, "known": 0} | rest
    assert upload(client, mission, TABLE).json() == {"new": 0, "known": 3} | rest
    form = client.post(f"/api/missions/{mission}/survey", files={"file": ("any.csv", TABLE)})
    assert form.json() == {"new": 0, "known": 3} | rest
    assert readings(client, mission) == 3
    said = [event["text"] for event in client.get(f"/api/missions/{mission}").json()["events"]]
    again = "0 new, 3 known, 0 refused."
    assert said[-3:] == ["The file: 3 new, 0 known, 0 refused.", f"The file: {again}", f"any.csv: {again}"]


def test_every_row_is_new_known_refused_or_skipped(begin, client):
    """Rows without a value are skipped, one that cannot be is refused by its line; the log says why."""
    mission = begin()["id"]
    rows = [f"{place},2,0.5" for place in range(2, 9)]
    rows[2:2] = ["3,3,", "4,4,NaN"]
    answer = upload(client, mission, "\n".join(("x,y,value", *rows, "5,5,-1e29")).encode()).json()
    counted = answer["new"] + answer["known"] + len(answer["refused"]) + answer["skipped"]
    assert counted == len(rows) + 1
    assert (answer["new"], answer["skipped"]) == (7, 2)
    [refused] = answer["refused"]
    assert refused["line"] == 11
    [event] = [
        item for item in client.get(f"/api/missions/{mission}").json()["events"] if item["kind"] != "feed"
    ]
    assert event["text"].startswith("The file: 7 new, 0 known, 1 refused, 2 skipped. Line 11: ")
    assert refused["reason"] in event["text"]
    assert answer["notes"][0] in event["text"]


def test_a_survey_is_as_good_as_its_readings_one_by_one(begin, client):
    """The same belief: estimates agree to the last bit."""
    one, other = begin()["id"], begin()["id"]
    upload(client, one, TABLE)
    for line in TABLE.decode().splitlines()[1:]:
        x, y, value = map(float, line.split(","))
        client.post(f"/api/missions/{other}/readings", json={"position": [x, y], "value": value})
    snapshots = [client.get(f"/api/missions/{mission}/snapshots/3").json() for mission in (one, other)]
    assert snapshots[0]["estimate"] == snapshots[1]["estimate"]
    assert snapshots[0]["particles"] == snapshots[1]["particles"]


def test_a_file_that_cannot_be_read_is_refused_with_its_line(begin, client):
    """Script in a cell is a cell that is no number; nothing of the file is taken, no path is told."""
    mission = begin()["id"]
    answer = upload(client, mission, b"x,y,value\n1,1,1\n2,2,<script>alert(1)</script>\n")
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("The file, line 3, column 'value'")
    assert "/tmp" not in answer.json()["error"]
    for data in (b"", b"\xff\xfe\x00", b"a,b\n1,2\n", b"x,y,value\n" + b"1e400,1,1\n"):
        assert upload(client, mission, data).status_code == 422
    assert readings(client, mission) == 0
    events = client.get(f"/api/missions/{mission}").json()["events"]
    assert sum("no reading was added" in event["text"] for event in events) == 5


def test_a_file_is_called_by_its_name_and_no_path(begin, client):
    """Of a name nothing but what can be shown is told, and not too much of it."""
    mission = begin()["id"]
    table = b"x,y,value\n1,1,much\n"
    names = {
        "../../etc/walk.csv": "walk.csv",
        "a\u202eb<i>.csv": "ab<i>.csv",
        "x" * 300: "x" * 80,
    }
    for name, called in names.items():
        answer = client.post(f"/api/missions/{mission}/survey", files={"file": (name, table)})
        assert answer.status_code == 422
        assert answer.json()["error"].startswith(f"{called}, line 2, column 'value'")


def test_errors_leave_out_hints_for_the_command_line(begin, client):
    """Who uploads a file has no options to give."""
    answer = upload(client, begin()["id"], b"x,y,reading_of_what\n1,1,1\n")
    assert "[columns] of the site file." in answer.json()["error"]
    assert "--column" not in answer.json()["error"]


KNOWN = """
area = {low = [0, 0], high = [25, 25]}
field = {kind = "temperature"}
search = {preset = "default", particles = 64}
"""


def test_what_else_was_measured_counts_where_the_site_asks_for_it(begin, client):
    """Of a file and of a reading; a mission that does not ask for it says that it is not used."""
    table = b"x,y,value,baseline\n2,2,20.1,20\n5,4,20.3,20.1\n"
    asked = begin(site=KNOWN + 'background = {mode = "measured"}\n')
    assert asked["quantities"] == [{"name": "background", "unit": "K"}]
    answer = upload(client, asked["id"], table).json()
    assert answer["new"] == 2
    assert answer["notes"] == [
        "The background of each reading is known, from the column 'baseline': 20 to 20.1 K."
    ]
    address = f"/api/missions/{asked['id']}/readings"
    body = {"position": [9, 9], "value": 20.4}
    assert "The background is missing" in client.post(address, json=body).json()["error"]
    assert client.post(address, json=body | {"background": 20.2}).status_code == 200
    assert upload(client, begin()["id"], table).json()["notes"] == [
        "The column 'baseline' was not used: a mission uses only what its site file asks for with each "
        "reading."
    ]


def test_too_many_rows_are_refused(begin, client):
    mission = begin()["id"]
    answer = upload(client, mission, b"x,y,value\n" + b"1,1,1\n" * 5001)
    assert answer.status_code == 422
    assert "5,000" in answer.json()["error"]


def test_a_form_without_a_file_is_refused(begin, client):
    answer = client.post(f"/api/missions/{begin()['id']}/survey", files={"other": ("any.csv", TABLE)})
    assert answer.status_code == 422
    assert "`file`" in answer.json()["error"]
