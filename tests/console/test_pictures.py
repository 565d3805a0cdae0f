"""Pictures behind the map: read, refused with what to do, placed on the site, and stored with the mission."""

import io
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from dowsax.console import pictures
from dowsax.console.app import build
from dowsax.console.pictures import UploadedPictures, place_picture, read_picture, site_picture
from dowsax.console.service import Console
from dowsax.site import parse_site

AREA = "[area]\nlow = [0, 0]\nhigh = [40, 20]\n{origin}[field]\nkind = 'temperature'\n{map}"
ORIGIN = "origin = [52.0, 5.0]\n"


def encoded(form="PNG", size=(40, 20), mode="RGB", **settings):
    made = io.BytesIO()
    Image.new(mode, size).save(made, form, **settings)
    return made.getvalue()


def geotiff(latitude=52.0, longitude=5.0, step=1e-6):
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    for tag, kind, value in (
        (33550, 12, (step, step, 0.0)),
        (33922, 12, (0.0, 0.0, 0.0, longitude, latitude, 0.0)),
        (34735, 3, (1, 1, 0, 1, 2048, 0, 1, 4326)),
    ):
        tags.tagtype[tag] = kind
        tags[tag] = value
    return encoded("TIFF", tiffinfo=tags)


def site(corners="", origin="", name="corners"):
    """The small site with a picture at these corners."""
    table = f"[map]\nimage = 'plan.png'\n{f'{name} = {corners}' if corners else ''}\n"
    return parse_site(AREA.format(origin=origin, map=table))


@pytest.mark.parametrize(("form", "kind"), [("PNG", "png"), ("JPEG", "jpeg"), ("TIFF", "webp")])
def test_what_is_stored_is_a_picture_of_the_same_pixels(form, kind):
    picture = read_picture(encoded(form), "plan")
    assert pictures.media_type(picture.data) == f"image/{kind}"
    assert Image.open(io.BytesIO(picture.data)).size == (picture.width, picture.height) == (40, 20)


def test_large_pictures_are_made_smaller(monkeypatch):
    monkeypatch.setattr(pictures, "MAX_SIDE", 20)
    picture = read_picture(encoded(size=(40, 20)), "plan")
    assert (picture.width, picture.height) == (20, 10)


_READ = """
import sys
from pathlib import Path
from PIL import Image
from dowsax.console.pictures import read_picture

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))

before = peak()
read_picture(Path(sys.argv[1]).read_bytes(), "plan")
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the memory that Linux states")
@pytest.mark.parametrize(("mode", "settings"), [("RGBA", {}), ("P", {"transparency": 0})])
def test_the_largest_picture_takes_little_memory(mode, settings, tmp_path):
    """Its file has a few bytes a row: what it takes is a matter of its pixels alone."""
    side = math.isqrt(pictures.MAX_PIXELS)
    (tmp_path / "plan.png").write_bytes(encoded(size=(side, side), mode=mode, **settings))
    command = [sys.executable, "-c", _READ, str(tmp_path / "plan.png")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 100 < int(ran.stdout) < 16 * pictures.MAX_PIXELS / 2**20 < 400


def photo(orientation, pages=1):
    """A picture whose top left corner is white; of several pages, as many phones have it."""
    exif = Image.Exif()
    exif[274] = orientation
    pixels = np.zeros((64, 128, 3), np.uint8)
    pixels[:32, :32] = 255
    image, made = Image.fromarray(pixels), io.BytesIO()
    more = {} if pages == 1 else {"save_all": True, "append_images": [image] * (pages - 1)}
    image.save(made, "JPEG" if pages == 1 else "MPO", exif=exif, **more)
    return made.getvalue()


@pytest.mark.parametrize("pages", [1, 2])
def test_a_photo_lies_as_the_camera_was_held(pages):
    """Turned to the right: what was its top left is its top right."""
    picture = read_picture(photo(6, pages), "photo")
    assert (picture.width, picture.height) == (64, 128)
    stored = Image.open(io.BytesIO(picture.data))
    assert stored.getpixel((60, 4))[0] > 200 > 50 > stored.getpixel((4, 4))[0]
    assert 274 not in stored.getexif()


def test_colours_of_a_palette_are_not_mixed_by_number(monkeypatch):
    """Made smaller, red and blue give what is between them, and not the colour between their numbers."""
    monkeypatch.setattr(pictures, "MAX_SIDE", 20)
    image, made = Image.new("P", (40, 40)), io.BytesIO()
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    image.putdata([0, 2] * 800)
    image.save(made, "PNG")
    stored = Image.open(io.BytesIO(read_picture(made.getvalue(), "plan").data))
    red, green, blue = stored.getpixel((10, 10))
    assert green == 0
    assert abs(red - blue) < 60 < red


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (SVG, "PNG, JPEG or GeoTIFF"),
        (b"<!doctype html><script>alert(1)</script>", "PNG, JPEG or GeoTIFF"),
        (b"", "PNG, JPEG or GeoTIFF"),
        (b"\x89PNG\r\n\x1a\n" + SVG, "PNG, JPEG or GeoTIFF"),
        (encoded("GIF", mode="P"), "PNG, JPEG or GeoTIFF"),
        (encoded()[:-40], "PNG, JPEG or GeoTIFF"),
        (encoded("TIFF", mode="F"), "8 bits a colour"),
        (encoded("PNG", size=(20_000, 20_000), mode="1"), "pixels: make it smaller"),
        (encoded("PNG", size=(6_000, 6_000), mode="1"), "pixels: make it smaller"),
    ],
    ids=["svg", "html", "empty", "mark", "gif", "cut", "numbers", "bomb", "large"],
)
def test_what_is_no_fit_picture_is_refused_in_a_line(data, words):
    with pytest.raises(ValueError, match=words) as refused:
        read_picture(data, "plan.png")
    assert str(refused.value).startswith("plan.png")
    assert "\n" not in str(refused.value)


def test_markup_within_a_picture_is_not_stored():
    """A file may be a picture and a page at once; the stored one is the picture alone."""
    data = encoded("JPEG", comment=SVG) + SVG
    assert SVG in data
    assert b"<script" not in read_picture(data, "plan").data


def test_two_corners_place_a_picture():
    picture = read_picture(encoded(), "plan")
    assert place_picture(picture, site("[[0, 0], [40, 20]]")) == [[0, 20], [40, 20], [0, 0]]


def test_four_corners_place_a_turned_picture():
    """By a quarter: its top is to the east."""
    picture = read_picture(encoded(), "plan")
    placed = place_picture(picture, site("[[20, 20], [20, 0], [0, 0], [0, 20]]"))
    assert placed == [[20, 20], [20, 0], [0, 20]]


def test_corners_in_degrees_and_of_a_geotiff_agree():
    picture = read_picture(geotiff(52.00002), "plan.tif")
    assert np.allclose(picture.corners[0], [52.00002, 5.0])
    stated = site("[[52.0, 5.0], [52.00002, 5.00004]]", ORIGIN, "corners_degrees")
    assert np.allclose(place_picture(picture, site(origin=ORIGIN)), place_picture(picture, stated), atol=1e-3)


@pytest.mark.parametrize(
    ("corners", "words"),
    [
        ("[[0, 0], [0, 20]]", "no area"),
        ("[[40, 20], [0, 0]]", None),
        ("[[0, 20], [40, 0]]", "wrong way round"),
        ("[[0, 0], [40, 0], [40, 20], [0, 20]]", "wrong way round"),
        ("[[0, 20], [40, 20], [20, 0], [0, 0]]", "no parallelogram"),
        ("[[0, 0]]", "two corners, or four"),
    ],
)
def test_wrong_corners_are_an_error_at_their_line(corners, words):
    if words is None:
        assert site(corners).map is not None
        return
    with pytest.raises(ValueError, match=words) as refused:
        site(corners)
    assert "map.corners" in str(refused.value)


def test_a_picture_that_cannot_be_placed_says_what_to_give():
    plain, placed = read_picture(encoded(), "plan"), read_picture(geotiff(), "plan.tif")
    for picture, where, words in (
        (plain, site(), "give its `corners`"),
        (placed, site(), "origin"),
        (read_picture(geotiff(53.0), "far.tif"), site(origin=ORIGIN), "nowhere near"),
    ):
        with pytest.raises(ValueError, match=words):
            place_picture(picture, where)


def test_a_site_file_names_its_picture(tmp_path):
    (tmp_path / "plan.png").write_bytes(encoded())
    file = str(tmp_path / "site.toml")
    assert site_picture(site("[[0, 0], [40, 20]]"), file).width == 40
    assert site_picture(site("[[0, 0], [40, 20]]"), None) is None
    (tmp_path / "plan.png").unlink()
    with pytest.raises(ValueError, match="does not exist"):
        site_picture(site("[[0, 0], [40, 20]]"), file)


def test_uploads_are_kept_up_to_a_number(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "MAX_UPLOADS", 2)
    uploads = UploadedPictures(tmp_path / "pictures")
    ids = [uploads.add(read_picture(encoded(size=(width, 4)), "plan")) for width in (4, 5, 6)]
    assert uploads.get(ids[-1]).width == 6
    with pytest.raises(ValueError, match="upload it again"):
        uploads.get(ids[0])


def upload(client, data, name="plan.png"):
    return client.post("/api/pictures", files={"file": (name, data)})


def test_a_mission_has_its_picture_until_it_is_deleted(client, site_text):
    data = encoded()
    sent = upload(client, data)
    assert sent.status_code == 201
    id = sent.json()["id"]
    assert client.get(f"/api/pictures/{id}").headers["content-type"] == "image/png"
    text = site_text() + "[map]\nimage = 'plan.png'\ncorners = [[0, 0], [25, 12.5]]\n"
    made = client.post(
        "/api/missions", json={"type": "real", "policy": "greedy", "site": text, "picture": id}
    )
    assert made.status_code == 201, made.text
    mission = made.json()
    assert mission["picture"] == {"corners": [[0, 12.5], [25, 12.5], [0, 0]]}
    shown = client.get(f"/api/missions/{mission['id']}/picture")
    assert shown.content == client.get(f"/api/pictures/{id}").content
    assert shown.headers["x-content-type-options"] == "nosniff"
    store = client.app.state.console.store
    assert store.picture_path(mission["id"]).is_file()
    client.delete(f"/api/missions/{mission['id']}")
    assert not store.picture_path(mission["id"]).exists()


def test_a_picture_survives_a_restart(tmp_path, site_text):
    from starlette.testclient import TestClient

    from dowsax.console.access_control import AccessSettings

    text = site_text() + "[map]\nimage = 'plan.png'\ncorners = [[0, 0], [25, 12.5]]\n"
    body = {"type": "real", "policy": "greedy", "site": text}
    shown = []
    for again in (False, True):
        app = build(Console(tmp_path), AccessSettings())
        with TestClient(app, base_url="http://127.0.0.1:8000") as client:
            if not again:
                body["picture"] = upload(client, encoded()).json()["id"]
                assert client.post("/api/missions", json=body).status_code == 201
            (mission,) = client.get("/api/missions").json()
            details = client.get(f"/api/missions/{mission['id']}").json()
            shown.append((details["picture"], client.get(f"/api/missions/{mission['id']}/picture").content))
    assert shown[0] == shown[1]
    assert shown[0][1].startswith(b"\x89PNG")


def test_wrong_pictures_are_refused_in_a_line(client, site_text, begin):
    assert upload(client, SVG, "plan.svg").json()["error"].startswith("plan.svg is not a picture")
    assert upload(client, SVG).status_code == 422
    assert client.post("/api/pictures", content=b"").status_code == 422
    gone = {"type": "real", "site": site_text(), "picture": "0" * 16}
    assert "upload it again" in client.post("/api/missions", json=gone).json()["error"]
    for wrong in ("../../etc/passwd", "x" * 16):
        assert client.post("/api/missions", json=gone | {"picture": wrong}).status_code == 422
        assert client.get(f"/api/pictures/{wrong}").status_code in (404, 422)
    assert client.get(f"/api/missions/{begin()['id']}/picture").status_code == 404


def test_a_huge_file_is_refused(client):
    answer = client.post("/api/pictures", content=b"x" * (31 * 1024 * 1024 + 1))
    assert answer.status_code == 413
    answer = client.post("/api/pictures", content=b"x" * (pictures.MAX_BYTES + 1))
    assert (answer.status_code, "30 MB" in answer.json()["error"]) == (422, True)
