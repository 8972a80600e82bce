"""Lists, objects, SQL, pictures and undoing, as a person uses them; SQLite's shell and Python say what is right."""
import base64
import csv
import io
import json
import time
import urllib.parse

from browsing import Browsing
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import Select

# One red pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
GIF = base64.b64decode("R0lGODlhAQABAIAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==")


class Lists(Browsing):
    def fetch(self, path):
        """A file of the page, by the browser's own session: its text, type and name."""
        return self.driver.execute_async_script(
            "const done = arguments[1]; fetch(arguments[0]).then(async (r) => done([await r.text(), "
            "r.headers.get('content-type'), r.headers.get('content-disposition'), r.headers.get('content-security-policy')]))",
            path)

    def test_names(self):
        """To-one columns show names, by an attribute that is chosen by itself and can be changed."""
        page = self.page
        page.sql("UPDATE ZUSER SET ZNAME = 'Ann ' || Z_PK, ZEMAIL = 'a' || Z_PK || '@example.com'")
        post, author = page.sql("SELECT Z_PK, ZAUTHOR FROM ZPOST WHERE ZAUTHOR > 0 LIMIT 1").split("|")
        link = f"td a[href='/object?entity=User&key={author}']"
        for place in ("/objects?entity=Post", f"/object?entity=Post&key={post}"):
            self.open(place)
            self.assertEqual(self.texts(link)[0], f"Ann {author}")
        self.open("/objects?entity=User")
        self.driver.find_element(By.XPATH, "//summary[.='Names in links']").click()
        Select(self.driver.find_element(By.ID, "label")).select_by_visible_text("email")
        self.press("Use")
        self.open("/objects?entity=Post")
        self.assertEqual(self.texts(link)[0], f"a{author}@example.com")
        self.open(f"/object?entity=User&key={author}")
        self.assertEqual(self.texts("h1"), [f"User {author}"])
        self.assertEqual(self.texts(".label"), [f"a{author}@example.com"])

    def test_order(self):
        """A click on a head sorts the list, the next one the other way; paging goes on in that order."""
        page = self.page
        page.sql("UPDATE ZPOST SET ZTEXT = 'same' WHERE Z_PK BETWEEN 10 AND 55")
        self.open("/objects?entity=Post")
        for direction, term in (("ascending", "ZTEXT, Z_PK"), ("descending", "ZTEXT DESC, Z_PK DESC")):
            self.leave(By.XPATH, "//thead//a[contains(., 'text')]")
            self.assertEqual(self.driver.find_element(By.CSS_SELECTOR, "th[aria-sort]").get_attribute("aria-sort"), direction)
            found = self.keys()
            self.follow("Next page")
            found += self.keys()
            self.assertEqual(found, page.sql(f"SELECT Z_PK FROM ZPOST ORDER BY {term}").split())
            self.follow("First page")

    def test_pages(self):
        """The arrow keys turn the pages, with Shift to the first and the last one; in a field they do not."""
        driver = self.driver
        self.page.sql(
            "WITH RECURSIVE n(i) AS (SELECT 61 UNION ALL SELECT i + 1 FROM n WHERE i < 170) "
            "INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZWRITTENAT) "
            "SELECT i, (SELECT Z_ENT FROM ZPOST LIMIT 1), 1, 'x', i FROM n")

        def turn(*keys):
            driver.execute_script("window.isLeft = true")
            driver.find_element(By.TAG_NAME, "body").send_keys(*keys)
            self.wait(20).until(lambda driver: driver.execute_script(
                "return !window.isLeft && document.readyState === 'complete'"), f"no other page came after {keys}")
            return [int(key) for key in self.keys()]

        self.open("/objects?entity=Post")
        self.assertEqual(turn(Keys.ARROW_RIGHT), list(range(51, 101)))
        self.assertEqual(turn(Keys.ARROW_LEFT), list(range(1, 51)))
        self.assertEqual(turn(Keys.SHIFT, Keys.ARROW_RIGHT), list(range(121, 171)))
        self.assertEqual(turn(Keys.ARROW_LEFT), list(range(71, 121)))
        place = driver.current_url
        driver.find_element(By.ID, "find").send_keys("a", Keys.ARROW_LEFT)
        time.sleep(0.5)
        self.assertEqual(driver.current_url, place)
        self.follow("Previous page")
        self.assertEqual([int(key) for key in self.keys()], list(range(21, 71)))
        self.follow("Last page")
        self.assertEqual(self.keys()[-1], "170")
        self.assertEqual(turn(Keys.SHIFT, Keys.ARROW_LEFT), list(range(1, 51)))

    def test_filter(self):
        """Filters by property, operator and value; the number of matches; a filter is removed by its cross."""
        page, driver = self.page, self.driver
        page.sql("UPDATE ZUSER SET ZNAME = 'Ann' WHERE Z_PK < 3; UPDATE ZPOST SET ZAUTHOR = 1 WHERE Z_PK < 30; "
                 "UPDATE ZPOST SET ZAUTHOR = 5 WHERE Z_PK >= 30; UPDATE ZUSER SET ZNAME = 'Bob' WHERE Z_PK = 5")
        self.open("/objects?entity=Post")
        self.assertEqual(self.texts("#count"), ["60 objects"])
        driver.find_element(By.XPATH, "//summary[.='Filter by property']").click()
        Select(driver.find_element(By.NAME, "on")).select_by_value("author")
        Select(driver.find_element(By.NAME, "is")).select_by_visible_text("contains")
        driver.find_element(By.NAME, "value").send_keys("ann", Keys.ENTER)
        self.wait(20).until(expected_conditions.url_contains("value=ann"))
        self.assertEqual(self.texts("#count"), ["29 objects match"])
        self.assertEqual(self.keys(), page.sql("SELECT Z_PK FROM ZPOST WHERE ZAUTHOR = 1 ORDER BY 1").split())
        Select(driver.find_elements(By.NAME, "on")[1]).select_by_value("writtenAt")
        Select(driver.find_elements(By.NAME, "is")[1]).select_by_visible_text("is at least")
        driver.find_elements(By.NAME, "value")[1].send_keys("2010-01-01")
        self.press("Find")
        wanted = page.sql("SELECT Z_PK FROM ZPOST WHERE ZAUTHOR = 1 AND "
                          "ZWRITTENAT >= unixepoch('2010-01-01') - 978307200 ORDER BY 1").split()
        self.assertEqual(self.keys(), wanted)
        self.assertTrue(0 < len(wanted) < 29)
        self.leave(By.CSS_SELECTOR, "a[aria-label='Remove the filter: author contains ann']")
        self.assertEqual(self.texts(".filters li bdi"), ["writtenAt is at least 2010-01-01"])
        # One that does not fit says so, and loses nothing.
        self.open("/objects?entity=Post&on=writtenAt&is=eq&value=soon")
        self.assertIn("2026-01-31", self.texts("[role=alert]")[0])
        self.assertEqual(driver.find_element(By.NAME, "value").get_attribute("value"), "soon")

    def test_columns(self):
        """Columns are chosen, and empty ones are hidden and named."""
        page, driver = self.page, self.driver
        page.sql("UPDATE ZUSER SET ZEMAIL = NULL")
        self.open("/objects?entity=User")
        heads = lambda: self.texts("thead th bdi")
        self.assertNotIn("email", heads())
        self.assertIn("email", self.words().split("Hidden, because they are empty on this page:")[1])
        self.follow("Show empty columns")
        self.assertIn("email", heads())
        driver.find_element(By.XPATH, "//summary[.='Columns']").click()
        for name in ("name", "email"):
            driver.find_element(By.CSS_SELECTOR, f"input[name=column][value={name}]").click()
        self.press("Find")
        self.assertEqual(heads(), ["Key", "email", "name"])
        self.open("/object?entity=User&key=1")
        self.assertIn("email", self.texts("#nil")[0])

    def test_pictures(self):
        """Pictures in Binary are seen, in the row and in external storage; other bytes are offered as a file."""
        page, driver = self.page, self.driver
        name = "5A3C9A70-1B1D-4E52-9A0B-3D6F4C0A7E11"
        folder = page.folder / ".forum_SUPPORT/_EXTERNAL_DATA"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(GIF)
        page.sql(f"UPDATE ZUSER SET ZAVATAR = x'01{PNG.hex()}' WHERE Z_PK = 1; "
                 f"UPDATE ZUSER SET ZAVATAR = x'02{name.encode().hex()}00' WHERE Z_PK = 2; "
                 f"UPDATE ZUSER SET ZAVATAR = x'01{b'<script>alert(1)</script>'.hex()}' WHERE Z_PK = 3")
        self.open("/objects?entity=User")
        seen = lambda: driver.execute_script(
            "return [...document.querySelectorAll('td img')].map((i) => [i.complete, i.naturalWidth])")
        self.wait(20).until(lambda _: seen() == [[True, 1], [True, 1]], "two pictures")
        for key, bytes_, kind in ((1, PNG, "image/png"), (2, GIF, "image/gif")):
            self.open(f"/object?entity=User&key={key}")
            self.wait(20).until(lambda _: seen() == [[True, 1]], "a picture")
            source = driver.find_element(By.CSS_SELECTOR, "td img").get_attribute("src")
            found, type_, policy = driver.execute_async_script(
                "const done = arguments[1]; fetch(arguments[0]).then(async (r) => done([[...new Uint8Array(await "
                "r.arrayBuffer())], r.headers.get('content-type'), r.headers.get('content-security-policy')]))", source)
            self.assertEqual((bytes(found), type_), (bytes_, kind))
            self.assertIn("sandbox", policy)
        text, type_, name_, _ = self.fetch("/data?entity=User&key=3&attribute=avatar")
        self.assertEqual((text, type_), ("<script>alert(1)</script>", "application/octet-stream"))
        self.assertIn("attachment", name_)

    def test_sql(self):
        """A query over the views, by keyboard; its rows as CSV and JSON are those of the command line; it cannot write."""
        page, driver = self.page, self.driver
        before = page.contents()
        self.follow("SQL")
        sql = "SELECT name, count(*) AS posts FROM User JOIN Post ON Post.author = User.Z_PK GROUP BY User.Z_PK ORDER BY 2, 1"
        driver.find_element(By.ID, "sql").send_keys(sql, Keys.CONTROL, Keys.ENTER)
        self.wait(20).until(expected_conditions.url_contains("sql=SELECT"))
        shell = page.sql("SELECT ZNAME, count(*) FROM ZUSER u JOIN ZPOST p ON p.ZAUTHOR = u.Z_PK GROUP BY u.Z_PK "
                         "ORDER BY 2, 1").splitlines()
        self.assertEqual(self.texts("thead th"), ["name", "posts"])
        self.assertEqual(["|".join(cell.text for cell in row.find_elements(By.TAG_NAME, "td"))
                          for row in driver.find_elements(By.CSS_SELECTOR, "tbody tr")], shell)
        query = urllib.parse.urlencode({"sql": sql})
        for kind in ("csv", "json"):
            text, *_ = self.fetch(f"/sql.{kind}?{query}")
            self.assertEqual(text, page.moult("query", page.store, sql, "--model", page.model, "--format", kind))
        driver.find_element(By.XPATH, "//summary[.='Views']").click()
        self.follow("Thread_posts")
        self.assertEqual(self.texts("[role=alert]"), [])
        for wrong in ("DELETE FROM ZPOST", "UPDATE User SET name = 'x'", "SELECT 1; SELECT 2", "PRAGMA user_version = 3"):
            self.open("/sql?" + urllib.parse.urlencode({"sql": wrong}))
            self.assertEqual(len(self.texts("[role=alert]")), 1, wrong)
        self.assertEqual(page.contents(), before)

    def test_files(self):
        """The objects of a list as CSV and JSON Lines: all that match, in the list's order; whole, as moult export has."""
        page = self.page
        self.open("/objects?entity=Post")
        whole, type_, name, _ = self.fetch("/objects.csv?entity=Post")
        self.assertEqual(whole, page.moult("export", page.store, "--entity", "Post", "--model", page.model))
        self.assertEqual((type_, name), ("text/csv; charset=utf-8", 'attachment; filename="Post.csv"'))
        lines, *_ = self.fetch("/objects.jsonl?entity=Post")
        self.assertEqual(lines, page.moult("export", page.store, "--entity", "Post", "--model", page.model, "--format", "jsonl"))
        query = "entity=Post&on=author&is=any&value=&sort=writtenAt&order=descending"
        keys = page.sql("SELECT Z_PK FROM ZPOST WHERE ZAUTHOR IS NOT NULL ORDER BY ZWRITTENAT DESC, Z_PK DESC").split()
        rows = list(csv.DictReader(io.StringIO(self.fetch(f"/objects.csv?{query}")[0])))
        self.assertEqual([row["Z_PK"] for row in rows], keys)
        rows = [json.loads(line) for line in self.fetch(f"/objects.jsonl?{query}")[0].splitlines()]
        self.assertEqual([str(row["Z_PK"]) for row in rows], keys)

    def test_undo(self):
        """A migration is undone from its result; the history leads to the log and the backup."""
        page, driver = self.page, self.driver
        rows = page.restored()
        self.open("/confirm?do=migrate")
        for box in driver.find_elements(By.ID, "accept"):
            box.click()
        self.press("Migrate")
        self.ended()
        self.assertNotEqual(page.restored(), rows)
        self.follow("Undo …")
        self.assertIn(f"{page.store} will be replaced", self.words())
        self.press("Undo")
        self.assertIn("Done.", self.ended())
        self.assertEqual(page.restored(), rows)
        self.follow("History")
        backup = self.texts("tbody td a code")[-1]
        self.leave(By.XPATH, "(//tbody//a[.='Log'])[last()]")
        self.assertIn("migrating from Forum to Forum 3", self.words())
        self.follow(backup)
        self.assertIn(backup, driver.find_element(By.CSS_SELECTOR, "tr:has(:target)").text)

    def test_copy(self):
        """A value is copied with its button."""
        driver, page = self.driver, self.page
        page.sql("UPDATE ZUSER SET ZNAME = 'Zoë \"&<b>' WHERE Z_PK = 1")
        driver.execute_cdp_cmd("Browser.grantPermissions", {
            "origin": f"http://127.0.0.1:{page.port}", "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.open("/object?entity=User&key=1")
        button = driver.find_element(By.CSS_SELECTOR, "button[aria-label='Copy name']")
        button.click()
        self.wait(20).until(lambda _: button.text == "Copied", "copied")
        self.assertEqual(driver.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0])"), 'Zoë "&<b>')

    def test_plan(self):
        """The plan shows what matters, and the rest apart, as the command line does."""
        self.open("/plan")
        plan = self.page.moult("plan", self.page.store, "--model", self.page.model)
        shown = [line.strip()[2:] for line in plan.splitlines() if line.startswith("  • ")]
        self.assertEqual([text for text in self.texts("main h2 + ul li")][:len(shown)], shown)
        self.assertNotIn("renaming identifier", self.words())
        for element in self.driver.find_elements(By.CSS_SELECTOR, "details.noise summary"):
            element.click()
        self.assertIn("renaming identifier", self.words())

