"""The built pages as a server gives them, with the network refused; test_pages.py opens all of them from disk."""

import json
import urllib.request

from browser import OF_EACH_KIND, outside, visits

from book.tools.read import chapters


def test_no_page_needs_the_network_or_complains(served, browser):
    visited = visits(browser, served, OF_EACH_KIND)
    trouble = {name: outside(page, served) + page.trouble for name, page in visited.items()}
    assert {name: said for name, said in trouble.items() if said} == {}


def test_claims_are_published(served, watched):
    claims = json.loads(urllib.request.urlopen(f"{served}/claims.json").read())
    assert claims["parts"] and {record["chapter"] for record in claims["parts"]} <= set(chapters.chapters())
    tab = watched.open(f"{served}/book/scoreboard.html")
    page = tab.locator("article").text_content()
    assert all(id in page for id in [*claims["verdicts"], *(record["part"] for record in claims["parts"])])
    tab.locator("article a", has_text="claims.json").click()
    tab.wait_for_url("**/claims.json")
