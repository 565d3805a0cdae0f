"""What a person does with missions as a whole: site files, live feeds, deletion, and what a stop is worth."""

import asyncio
import json
import re
import shlex
import threading
from pathlib import Path

import pytest
from made_brokers import broker_at, free_port
from made_rehearsals import rehearsal_of
from served_console import PARTICLES, PHONE, SITE, site_text

from dowsax.mission.rehearsal import rehearsal_path, rehearsal_text

pytestmark = pytest.mark.slow


def apart(work):
    """Run a coroutine function while the browser's own loop is at rest; its answer."""
    found = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(work())))
    thread.start()
    thread.join(60)
    return found[0]


async def exchanged(port: int, topics: tuple[str, str], body: dict) -> dict:
    """Publish a reading to a broker, and wait for the advice."""
    import aiomqtt

    async with asyncio.timeout(50), aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe(topics[1], qos=1)
        await client.publish(topics[0], json.dumps(body), qos=1)
        async for message in client.messages:
            return json.loads(message.payload)
    raise AssertionError("The broker ended.")


def test_readings_of_a_live_feed_appear_by_themselves(open_page, console):
    """Broker and topics are typed into the form; the password is never shown again."""
    port = free_port()
    with broker_at(port):
        page = open_page("#/new/real")
        page.locator(".verdict.good").wait_for()
        site_text(page).fill(SITE)
        page.locator(".verdict.good", has_text="Yard").wait_for()
        page.click("text=Live feed by MQTT")
        page.get_by_label("Broker").fill(f"mqtt://crew:hidden-word@127.0.0.1:{port}")
        page.get_by_label("Readings come on").fill("yard/in")
        page.get_by_label("Advice goes to").fill("yard/out")
        page.click("button[type=submit]")
        page.locator("p", has_text="readings on yard/in, advice to yard/out").wait_for()
        page.locator("section:has-text('Log') li", has_text="Listening").wait_for(timeout=120_000)
        body = {"id": "1", "x": 2.0, "y": 2.0, "value": 1.5}
        advice = apart(lambda: exchanged(port, ("yard/in", "yard/out"), body))
        page.wait_for_selector('#replay[max="1"]')
        snapshot = console.get(f"/missions/{page.url.rsplit('/', 1)[1]}/snapshots/1")
        # The message is rounded.
        assert advice["next_position"] == pytest.approx(snapshot["next"], abs=0.0051)
        assert snapshot["reading"]["value"] == 1.5
        assert "hidden-word" not in page.content()


def test_a_broker_address_that_is_none_is_refused_in_words(open_page):
    page = open_page("#/new/real")
    page.locator(".verdict.good").wait_for()
    page.click("text=Live feed by MQTT")
    page.get_by_label("Broker").fill("https://127.0.0.1")
    page.click("button[type=submit]")
    page.locator(".form-message.error", has_text="mqtt://").wait_for()


@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_a_site_file_is_uploaded(open_page, console, settings):
    """As files come from other systems: with a mark of the byte order and its own line ends."""
    page = open_page("#/new/real", **settings)
    page.locator(".verdict.good").wait_for()
    text = SITE.replace("Yard", "Uploaded yard")
    data = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    page.set_input_files("#site-file", {"name": "yard.toml", "mimeType": "text/plain", "buffer": data})
    page.locator(".verdict.good", has_text="Uploaded yard").wait_for()
    assert site_text(page).input_value() == text
    page.click("button[type=submit]")
    page.locator("h1", has_text="Uploaded yard").wait_for()
    mission = console.get(f"/missions/{page.url.rsplit('/', 1)[1]}")
    assert mission["no_go"] == [[[8.0, 2.0], [11.0, 2.0], [11.0, 5.0], [8.0, 5.0]]]


def begun(console, name: str) -> str:
    body = {"type": "simulated", "field": "temperature", "policy": "greedy", "particles": PARTICLES}
    mission = console.post("/missions", body | {"name": name})["id"]
    console.ready(mission)
    return mission


def missions(console) -> set[str]:
    return {item["id"] for item in console.get("/missions")}


def test_a_mission_is_deleted_by_keyboard_after_a_question(open_page, console):
    """Escape and the first choice keep it; then it is gone, from the list as well."""
    mission = begun(console, "to be <i>deleted</i>")
    page = open_page(f"#/m/{mission}")
    button = page.get_by_role("button", name="Delete this mission")
    question = page.get_by_role("dialog", name="Delete \u201cto be <i>deleted</i>\u201d?")
    for key in ("Escape", "Enter"):
        button.focus()
        page.keyboard.press("Enter")
        question.wait_for()
        assert page.evaluate("document.activeElement.textContent") == "Keep it"
        # As the help: with room about its words.
        assert question.evaluate("(box) => getComputedStyle(box).padding") == "22px"
        page.keyboard.press(key)
        question.wait_for(state="detached")
        assert page.evaluate("document.activeElement.textContent") == "Delete this mission"
    assert mission in missions(console)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("h1", has_text="Find the source").wait_for()
    page.locator(".notice", has_text="is deleted").wait_for()
    assert mission not in missions(console)
    assert page.locator(".mission-name", has_text="deleted").count() == 0


def test_another_page_reports_a_deletion(open_page, console):
    """A phone that watches a search which runs; the one who deletes it does so on a desktop."""
    mission = begun(console, "watched")
    console.post(f"/missions/{mission}/control", {"action": "run", "speed": 0.1})
    watching, page = open_page(f"#/m/{mission}", **PHONE), open_page(f"#/m/{mission}")
    page.get_by_role("button", name="Delete this mission").click()
    page.locator("dialog", has_text="It is stopped first.").wait_for()
    page.get_by_role("button", name="Delete it").click()
    watching.locator("h1", has_text="Find the source").wait_for()
    watching.locator(".notice", has_text="\u201cwatched\u201d was deleted by somebody else.").wait_for()


def test_the_page_names_the_command_that_measures_stops_and_then_its_numbers(open_page, console, real):
    page = open_page(f"#/m/{real}")
    page.click("text=False stops: not measured here")
    command = page.locator(".rate code").inner_text()
    file = Path(shlex.split(command)[2])
    assert command == f"dowsax rehearse {file} --policy location-gain"
    assert file.read_text() == SITE
    path = rehearsal_path(file)
    path.write_text(rehearsal_text(rehearsal_of(SITE, console.get(f"/missions/{real}"))))
    page.reload()
    words = "False stops: in 160 rehearsals of this site, 4 of 130 stops were wrong: 3.1 % [1.2, 7.6]"
    page.locator(".rate", has_text=words).wait_for()
    path.unlink()


def test_a_stop_says_what_it_is_worth_once(open_page, console, searched):
    """Of a simulation with few particles nothing was measured: the command for many more of its kind."""
    page = open_page(f"#/m/{searched}")
    page.locator(".why", has_text=re.compile("Found|Inconclusive")).wait_for()
    told = console.get(f"/missions/{searched}")["false_stops"]
    assert page.locator(".rate code").text_content() == told["command"]
    assert f"--particles {PARTICLES}" in told["command"]
