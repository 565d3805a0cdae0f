"""Who can use a page: by the rules of axe, by the keyboard alone, and by a link of each role."""

from pathlib import Path

import pytest
from mocked_mission import change_answers
from served_console import PHONE, SITE, refused, serve

GRAVE = ("serious", "critical")
PAGES = ("", "#/new", "#/new/simulated", "#/new/real", "#/links", "#/m/{walked}", "#/m/{simulated}")


SIMULATED = {"type": "simulated", "scenario": "id", "running": False, "speed": 2.0}


@pytest.fixture(scope="module")
def simulated(console) -> str:
    """A mission with a reading, which a page takes for a simulated one by `SIMULATED`."""
    mission = console.post("/missions", {"type": "real", "site": SITE, "name": "simulated"})["id"]
    console.ready(mission)
    console.post(f"/missions/{mission}/readings", {"position": [2.0, 2.0], "value": 1.0})
    return mission


def faults(page) -> list[tuple[str, list[str]]]:
    """The rules that the page breaks gravely, with the elements that do."""
    axe_core_python = pytest.importorskip("axe_core_python", reason="pip install axe-core-python")
    page.evaluate((Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [
        (rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found if rule["impact"] in GRAVE
    ]


@pytest.mark.parametrize(
    "settings", [{}, PHONE | {"color_scheme": "dark"}], ids=["desktop, light", "phone, dark"]
)
def test_no_page_breaks_a_rule_gravely(open_page, console, walked, simulated, settings):
    """With all that is folded unfolded."""
    page = open_page(**settings)
    change_answers(page, simulated, SIMULATED, {})
    for place in PAGES:
        page.goto("about:blank")
        page.goto(f"{console.url}/{place.format(walked=walked, simulated=simulated)}")
        page.wait_for_selector("h1", state="attached")
        if place.startswith("#/m/"):
            page.wait_for_selector(".reading-row")
            page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        page.wait_for_timeout(200)
        assert faults(page) == [], place


def test_dialogs_break_no_rule_gravely(open_page, walked):
    page = open_page(f"#/m/{walked}")
    page.keyboard.press("?")
    page.locator("dialog.help").wait_for()
    assert faults(page) == []
    page.keyboard.press("Escape")
    for name in ("Correct reading 1", "Leave out reading 1"):
        page.get_by_role("button", name=name, exact=True).click()
        page.locator("dialog.ask-dialog").wait_for()
        assert faults(page) == []
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")


def test_a_checker_that_finds_nothing_finds_what_is_wrong(open_page):
    """An image without a text and a button without a name."""
    page = open_page()
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"icon.svg\"><button></button>')")
    assert {rule for rule, _ in faults(page)} == {"image-alt", "button-name"}


def test_every_control_of_a_mission_is_reached_and_seen_by_the_keyboard(open_page, walked):
    """In the order of the page; each shows that it has the focus."""
    page = open_page(f"#/m/{walked}")
    page.wait_for_selector(".reading-row")
    wanted = page.evaluate(
        "[...document.querySelectorAll('a[href], button:not(:disabled), input, select, summary')]"
        ".filter((one) => one.checkVisibility() && one.type !== 'file').length"
    )
    page.evaluate("document.activeElement.blur()")
    seen, last = [], None
    for _ in range(wanted + 10):
        page.keyboard.press("Tab")
        now = page.evaluate(
            """() => {
              const one = document.activeElement;
              one.dataset.visit ??= String(document.querySelectorAll('[data-visit]').length);
              const { outlineStyle, outlineWidth } = getComputedStyle(one);
              const label = one.matches('.unseen') ? getComputedStyle(one.nextElementSibling) : null;
              const shows = (label?.outlineStyle ?? outlineStyle) !== 'none' && outlineWidth !== '0px';
              return [one.tagName, one.dataset.visit, shows];
            }"""
        )
        if now[0] == "BODY":
            continue
        if now[1] == last:
            break
        seen.append(now)
        last = now[1]
    assert len({visit for _, visit, _ in seen}) >= wanted
    assert [one for one in seen if not one[2]] == []


def test_a_reading_is_left_out_and_taken_back_without_a_mouse(open_page, console, walked):
    page = open_page(f"#/m/{walked}")
    page.locator("#leave-out-2").focus()
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("document.activeElement.id") == "leave-out-2"
    page.keyboard.press("Enter")
    page.get_by_label("Reason (optional)").press("Enter")
    # Nothing outside of an open dialog takes the focus.
    page.locator("dialog").wait_for(state="detached")
    page.locator("#undo-2:enabled").wait_for()
    assert console.get(f"/missions/{walked}")["readings"] == 2
    page.locator("#undo-2").focus()
    page.keyboard.press("Enter")
    page.locator("#leave-out-2:enabled").wait_for()
    page.wait_for_function("document.activeElement.id === 'reading-2'")
    assert console.get(f"/missions/{walked}")["readings"] == 3


@pytest.fixture
def office(console):
    """A read-only link."""
    return console.post("/links", {"role": "reader", "name": "office"})


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_reader_sees_everything_and_no_button_that_changes_anything(
    open_page, walked, simulated, office, settings
):
    page = open_page(f"?token={office['token']}", **settings)
    page.locator(".read-only").wait_for()
    assert page.locator(".starts").count() == 0
    page.evaluate("location.hash = '#/new/simulated'")
    page.get_by_text("You have a read-only link").wait_for()
    change_answers(page, simulated, SIMULATED, {})
    for mission in (walked, simulated):
        page.evaluate(f"location.hash = '#/m/{mission}'")
        page.wait_for_selector(".reading-row")
        buttons = page.locator("#side button").all_inner_texts()
        assert {"Report", "GeoJSON", "CSV"} <= set(buttons)
        for name in ("Correct", "Leave out", "Add reading", "Delete this mission", "Run", "Reveal the truth"):
            assert name not in buttons
        assert page.locator("#reading-form, #survey-file, #run").count() == 0
    refusal = page.evaluate(
        f"import('/api.js').then((api) => api.post('/missions/{walked}/reveal')).catch((one) => one.message)"
    )
    assert "read-only" in refusal


@pytest.fixture(autouse=True)
def refusals_are_meant(allowed_errors):
    allowed_errors += [refused(403), refused(401)]


def test_the_owner_makes_and_revokes_links(open_page, console):
    page = open_page("#/links")
    page.get_by_label("For whom").fill("boat <b>2</b>")
    page.get_by_label("May do").select_option("operator")
    page.get_by_role("button", name="Create a link").click()
    page.locator(".links li", has_text="boat <b>2</b> Operator").wait_for()
    address = page.get_by_label("Address of the link of boat").input_value()
    link = console.get("/links")[-1]
    assert address == f"{console.url}/?token={link['token']}"
    page.get_by_role("button", name="Revoke the link of boat").click()
    page.locator(".links li", has_text="boat").wait_for(state="detached")
    assert link["id"] not in [one["id"] for one in console.get("/links")]


def test_an_operator_runs_missions_and_sees_no_links(open_page, console, walked):
    link = console.post("/links", {"role": "operator", "name": "boat"})
    page = open_page(f"?token={link['token']}")
    page.locator(".starts").wait_for()
    assert page.get_by_role("link", name="Links for others").count() == 0
    page.evaluate(f"location.hash = '#/m/{walked}'")
    page.get_by_role("button", name="Correct reading 1").wait_for()


def test_a_reader_on_this_machine_leaves_the_link(open_page, office):
    page = open_page(f"?token={office['token']}")
    page.locator(".read-only").wait_for()
    page.get_by_role("link", name="Leave").click()
    page.get_by_role("link", name="Links for others").wait_for()


@pytest.fixture(scope="module")
def locked(console, tmp_path_factory):
    """A console that needs a token."""
    with serve(tmp_path_factory.mktemp("locked"), "correct-horse-battery") as served:
        yield served


def refuses(page, sockets) -> bool:
    """Whether the page says that its link was revoked, and neither shows nor asks anything more."""
    page.locator("h1", has_text="This link was revoked").wait_for()
    assert page.locator("#link").is_hidden()
    assert page.locator("#tools a, #tools button, .missions").count() == 0
    before = len(sockets)
    page.evaluate("location.hash = '#/new'")
    page.wait_for_timeout(1500)
    return len(sockets) == before and page.locator("h1").inner_text() == "This link was revoked"


@pytest.mark.parametrize("is_away", [False, True], ids=["at the page", "away from the network"])
def test_the_page_of_a_revoked_link_says_so_and_asks_no_more(browser, locked, is_away):
    """Though its socket has nothing to say; also where the link was revoked while the phone was off."""
    link = locked.post("/links", {"role": "reader", "name": "office"})
    context = browser.new_context()
    page, sockets = context.new_page(), []
    page.on("websocket", lambda socket: sockets.append(socket))
    page.goto(f"{locked.url}/?token={link['token']}")
    page.locator(".read-only").wait_for()
    if is_away:
        context.set_offline(True)
        page.locator("#link").wait_for()
    locked.delete(f"/links/{link['id']}")
    if is_away:
        context.set_offline(False)
    else:
        # A silence, after which the page asks whether the server is there.
        page.evaluate("() => { const own = Date.now; Date.now = () => own() + 60_000; }")
    assert refuses(page, sockets)
    context.close()


def test_a_socket_that_is_closed_for_a_revoked_link_is_not_opened_again(open_page, office):
    page = open_page()
    sockets = []

    def close(socket):
        sockets.append(socket)
        socket.close(code=4401, reason="The link was revoked.")

    page.route_web_socket("**/live", close)
    page.goto(page.url + f"?token={office['token']}")
    assert refuses(page, sockets)
    assert len(sockets) == 1
