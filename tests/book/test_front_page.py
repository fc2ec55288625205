"""The first page and the page of the papers' figures in a browser: pictures, tiles, keyboard."""

import re
import urllib.request

from lmc_helpers.claims import ledger


def test_the_first_page_shows_its_findings_at_once(served, watched):
    tab = watched.open(f"{served}/book/index.html")
    cards = tab.locator(".lmc-card")
    assert 4 <= cards.count() <= 6
    for card in cards.all():
        card.scroll_into_view_if_needed()
        picture = card.locator("img")
        assert picture.evaluate("i => i.decode().then(() => i.naturalWidth)") > 300
        assert len(picture.get_attribute("alt")) > 40
        assert card.locator("a.lmc-badge").count() >= 1 and card.locator("a[href^='executed/']").count() >= 2
    assert re.findall(r"\[\[|\{claim\}|\{\{", tab.locator("article").inner_text()) == []
    small = [url for url in watched.requests if "/thumbs/" in url]
    assert small
    assert sum(len(urllib.request.urlopen(url).read()) for url in small) < 200_000


def test_tiles_lead_to_their_rows_by_pointer_and_keyboard(served, watched):
    known = {id: claim for id, claim in ledger().items() if not claim.page}
    tab = watched.open(f"{served}/book/index.html")
    tiles = tab.locator("a.lmc-tile")
    assert [text[: len(id)] for text, id in zip(tiles.all_inner_texts(), known, strict=True)] == list(known)
    assert all(t.get_attribute("title").startswith(f"{id}, ") for t, id in zip(tiles.all(), known, strict=True))
    tab.evaluate("() => document.querySelector('.lmc-grid').previousElementSibling.focus()")
    tiles.first.focus()
    tab.keyboard.press("Tab")  # the keyboard shows what the pointer's title says
    assert tab.evaluate("() => getComputedStyle(document.activeElement, '::after').content").startswith('"Z2, ')
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/book/scoreboard.html#score-Z2")
    rows = set(tab.evaluate("() => [...document.querySelectorAll('[id]')].map(e => e.id)"))
    assert {f"score-{id}" for id in known} <= rows


def test_the_papers_figures_are_drawn_when_they_are_seen(html, served, watched):
    tab = watched.open(f"{served}/book/figures.html")
    before = {url for url in watched.requests if "/thumbs/" in url}
    links = tab.locator(".lmc-pair-pictures a:has(img)")
    assert len(before) < links.count() / 2
    for link in links.all():
        link.scroll_into_view_if_needed()
        assert link.locator("img").evaluate("i => i.decode().then(() => i.naturalWidth)") > 200
        assert len(link.locator("img").get_attribute("alt")) > 40
        page, anchor = link.get_attribute("href").split("#")
        assert f'id="{anchor}"' in (html / "book" / page).read_text(encoding="utf-8")
    assert len({url for url in watched.requests if "/thumbs/" in url}) > len(before)
    assert tab.locator(".lmc-pair").count() == 47
    assert tab.locator(".lmc-pair .lmc-badge").count() > 100
    assert tab.locator(".lmc-missing").count() == 2
    assert watched.trouble == []
