"""The pictures of the page are what ``docs/pictures/page.py`` takes."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from tests.docs.test_page_pictures import NAMES, PICTURES
from tests.page.conftest import chromium

TAKE_S = 240

# What a time of day, or letters of another face, may change of a small copy; of 255.
DIFFERENCE_MAX = 12.0
SMALL = (120, 120)


def small(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB").resize(SMALL)


@pytest.mark.slow
@pytest.mark.timeout(TAKE_S + 15)
def test_taking_them_again_gives_much_the_same(tmp_path: Path) -> None:
    chromium(is_whole=True)

    # It waits for the words that each of them must show.
    command = [sys.executable, str(PICTURES / "page.py"), "--into", str(tmp_path)]
    subprocess.run(command, check=True, timeout=TAKE_S)

    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(NAMES)
    changed = {}
    for name in NAMES:
        taken, kept = tmp_path / f"{name}.png", PICTURES / f"{name}.png"
        with Image.open(taken) as one, Image.open(kept) as other:
            assert one.size == other.size, name
        difference = ImageStat.Stat(ImageChops.difference(small(taken), small(kept))).mean
        if max(difference) > DIFFERENCE_MAX:
            changed[name] = difference
    assert changed == {}, "the page looks otherwise now: python docs/pictures/page.py"
