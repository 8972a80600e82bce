"""A person's way through the page, in headless Chromium; SQLite's shell checks the store after each step."""
import importlib.util
import pathlib
import subprocess

from browsing import Browsing
from page import Page
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions


class Walk(Browsing):
    def test_walk(self):
        """Entities, objects, links, search; then back up, rehearse, migrate, restore."""
        driver, page = self.driver, self.page
        self.assertEqual(driver.current_url, f"http://127.0.0.1:{page.port}/")
        self.assertIn("2 versions behind", self.words())
        self.follow("Post")
        rows = driver.find_elements(By.CSS_SELECTOR, "tbody tr")
        self.assertEqual(len(rows), 50)
        self.follow("Next page")
        keys = [e.text for e in driver.find_elements(By.CSS_SELECTOR, "tbody th")]
        self.assertEqual(keys, page.sql("SELECT Z_PK FROM ZPOST WHERE Z_PK > 50 ORDER BY 1").split())
        post, author = page.sql("SELECT Z_PK, ZAUTHOR FROM ZPOST WHERE Z_PK > 50 AND ZAUTHOR > 0 LIMIT 1").split("|")
        self.follow(post)
        self.leave(By.CSS_SELECTOR, f"td a[href='/object?entity=User&key={author}']")
        self.assertEqual(driver.find_element(By.TAG_NAME, "h1").text, f"User {author}")
        page_of_user = driver.current_url
        posts = page.sql(f"SELECT Z_PK FROM ZPOST WHERE ZAUTHOR = {author} ORDER BY 1 LIMIT 1")
        self.leave(By.CSS_SELECTOR, f"a[href='/object?entity=Post&key={posts}']")
        driver.back()
        self.assertEqual(driver.current_url, page_of_user)

        # Search, by keyboard alone.
        self.open("/objects?entity=Post")
        driver.find_element(By.TAG_NAME, "body").send_keys("/")
        self.assertEqual(driver.switch_to.active_element.get_attribute("id"), "find")
        word = page.sql("SELECT ZTEXT FROM ZPOST WHERE Z_PK = 7").split()[0]
        driver.switch_to.active_element.send_keys(word, Keys.ENTER)
        self.wait(20).until(expected_conditions.url_contains("find="))
        keys = [e.text for e in driver.find_elements(By.CSS_SELECTOR, "tbody th")]
        self.assertIn("7", keys)
        quoted = word.replace("'", "''")
        self.assertEqual(
            len(keys), int(page.sql(f"SELECT min(50, count(*)) FROM ZPOST WHERE ZTEXT LIKE '%{quoted}%'")))

        # Back up.
        before = page.contents()
        rows = page.restored()
        self.follow("Backups")
        self.follow("Create backup …")
        self.assertIn("Nothing is replaced", self.words())
        self.assertFalse((pathlib.Path(f"{page.store}.moult") / "backups").exists())
        self.press("Create backup")
        self.assertIn("was written to", self.ended())
        backups = list((pathlib.Path(f"{page.store}.moult") / "backups").iterdir())
        self.assertEqual(len(backups), 1)
        self.assertEqual(page.contents(backups[0] / "forum.sqlite"), before)

        # Rehearse.
        self.follow("Plan")
        self.press("Rehearse")
        self.assertIn("Done.", self.ended())
        self.assertEqual(page.contents(), before)

        # Migrate.
        self.follow("Plan")
        self.follow("Migrate …")
        self.assertIn(f"{page.store} will be replaced", self.words())
        for box in driver.find_elements(By.ID, "accept"):
            box.click()
        self.press("Migrate")
        self.assertIn("Done.", self.ended())
        status = page.moult("status", page.store, "--model", page.model, "--json")
        self.assertIn('"current"', status)
        self.assertEqual(page.sql("PRAGMA integrity_check; PRAGMA foreign_key_check"), "ok")
        self.assertEqual(page.sql("SELECT count(*) FROM ZPOST"), "60")
        self.open("/")
        self.assertIn("of the newest version", self.words())
        self.follow("History")
        self.assertIn("migrate", self.words())

        # Restore.
        self.follow("Backups")
        self.leave(By.CSS_SELECTOR, f"a[aria-label='Restore {backups[0].name}']")
        self.assertIn("will be replaced", self.words())
        self.press("Restore")
        self.assertIn("is the backup", self.ended())
        self.assertEqual(page.restored(), rows)
        self.open("/")
        self.assertIn("2 versions behind", self.words())

    def watched(self):
        """What the page shows of a run until it has ended: how far it is, and in which words."""
        driver, seen = self.driver, []
        while not driver.find_elements(By.ID, "ended"):
            shown = driver.execute_script(
                "const bar = document.querySelector('progress'); const words = document.getElementById('words');"
                "return bar && words ? [bar.value, words.textContent] : null")
            if shown and shown not in seen:
                seen.append(shown)
        return seen

    def test_progress(self):
        """A run shows how far it is; it can be cancelled, and goes on when the browser leaves."""
        driver = self.driver
        page = Page(self.bin, "--allow-changes", posts=120000)
        self.addCleanup(page.end)
        driver.get(page.address)
        before = page.contents()

        self.open("/plan", page)
        self.press("Rehearse")
        seen = self.watched()
        self.assertIn("Done.", self.words())
        values = [value for value, _ in seen]
        self.assertEqual(values, sorted(values))
        # How often it is asked for in the time of a run depends on the machine.
        self.assertGreater(len({value for value in values if 0 < value < 1}), 0, seen)
        self.assertGreater(len({words for _, words in seen}), 1, seen)

        self.open("/plan", page)
        self.press("Rehearse")
        self.press("Cancel")
        self.assertIn("The store is as it was", self.ended())
        self.assertEqual(page.contents(), before)

        self.open("/confirm?do=migrate", page)
        self.press("Migrate")
        driver.get("about:blank")
        self.open("/job", page)
        self.assertIn("Done.", self.ended())
        self.assertIn('"current"', page.moult("status", page.store, "--model", page.model, "--json"))
        self.assertEqual(page.sql("PRAGMA integrity_check; SELECT count(*) FROM ZPOST"), "ok\n120000")

    def test_writer(self):
        """A store that an app is writing to is shown, and not migrated until the app has closed it."""
        driver, page = self.driver, self.page
        app = subprocess.Popen(["sqlite3", str(page.store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(app.kill)
        app.stdin.write("PRAGMA journal_mode; BEGIN IMMEDIATE; UPDATE ZUSER SET ZNAME = 'x' WHERE Z_PK = 1;\n"
                        "SELECT 'begun';\n")
        app.stdin.flush()
        while "begun" not in app.stdout.readline():
            pass
        self.open("/object?entity=User&key=1")
        self.assertIn("User 1", self.words())
        self.open("/confirm?do=migrate")
        self.press("Migrate")
        self.assertIn("has failed", self.ended())
        self.assertIn("locked", self.words())
        app.communicate("ROLLBACK;\n", timeout=20)
        self.open("/confirm?do=migrate")
        self.press("Migrate")
        self.assertIn("Done.", self.ended())

    PLACES = ["/", "/model", "/objects?entity=Post", "/objects?entity=User&sort=name&on=name&is=any&value=&column=name",
              "/object?entity=User&key=1", "/sql?sql=SELECT+*+FROM+Post", "/sql?sql=SELEC", "/plan", "/findings", "/history",
              "/backups", "/confirm?do=migrate", "/nothing", "/objects?entity=Post&where=" + "x" * 120,
              "/sql?sql=" + "y" * 120]

    def test_looks(self):
        """Each page passes axe in light and dark, and is no wider than a narrow window."""
        folder = pathlib.Path(importlib.util.find_spec("axe_playwright_python").origin).parent
        axe = (folder / "axe.min.js").read_text()
        driver = self.driver
        faults = []
        every = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
        # Only the colours differ between the two.
        for scheme, rules in (("light", {"runOnly": every}), ("dark", {"runOnly": ["color-contrast"]})):
            self.scheme(scheme)
            for place in self.PLACES:
                self.open(place)
                # By the protocol: the page's own policy lets no other script in.
                driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
                found = driver.execute_async_script(
                    "const [rules, done] = arguments; axe.run(document, rules).then((r) => done(r.violations.map((v) => "
                    "v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(' | '))));", rules)
                faults += [f"{scheme} {place} {fault}" for fault in found]
        self.width(400)
        for place in self.PLACES:
            self.open(place)
            width = driver.execute_script("return document.documentElement.scrollWidth")
            if width > 400:
                faults.append(f"{place} is {width} pixels wide at 400")
        self.assertEqual(faults, [])
        # What the missing page is logged as.
        driver.get_log("browser")

    def test_keyboard(self):
        """The keyboard reaches every link, field and button, and shows where it is."""
        driver = self.driver
        for place in ("/", "/plan", "/backups", "/objects?entity=User", "/objects?entity=User&on=name&is=any&value=",
                      "/object?entity=User&key=1", "/sql?sql=SELECT+1"):
            self.open(place)
            self.drawn()
            wanted = driver.execute_script(
                "return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), summary, select, textarea')]"
                ".filter((e) => e.checkVisibility()).length")
            seen = set()
            for _ in range(400):
                driver.switch_to.active_element.send_keys(Keys.TAB)
                element, outline = driver.execute_script(
                    "const e = document.activeElement; const s = getComputedStyle(e);"
                    "return [e, s.outlineStyle != 'none' || e.matches('.skip')]")
                if element.tag_name == "body" or element in seen:
                    break
                self.assertTrue(outline, f"{place}: no focus to be seen at {element.get_attribute('outerHTML')[:100]}")
                seen.add(element)
            reached = [e for e in seen if e.tag_name in ("a", "button", "input", "summary", "select", "textarea")]
            self.assertEqual(len(reached), wanted, place)
        self.open("/")
        driver.switch_to.active_element.send_keys(Keys.TAB)
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.assertEqual(driver.switch_to.active_element.get_attribute("id"), "content")

    def test_pictures(self):
        """The model's picture is there, with its text; screenshots are kept where they are asked for."""
        driver = self.driver
        self.open("/model")
        self.drawn()
        self.assertGreater(driver.execute_script("return document.querySelector('figure > svg').clientWidth"), 200)
        if not self.pictures_folder:
            return
        self.pictures_folder.mkdir(exist_ok=True)
        # Its path is in the pictures.
        page = Page(self.bin, "--allow-changes", threads=12, folder="/tmp/forum")
        self.addCleanup(page.end)
        driver.get(page.address)
        places = {
            "store": "/", "objects": "/objects?entity=Post", "object": "/object?entity=User&key=1", "model": "/model",
            "filter": "/objects?entity=Post&on=author&is=any&value=&sort=author", "sql":
            "/sql?sql=SELECT+name,+count(*)+AS+posts+FROM+User+JOIN+Post+ON+Post.author+%3D+User.Z_PK+GROUP+BY+1",
            "plan": "/plan", "findings": "/findings", "confirm": "/confirm?do=migrate", "backups": "/backups",
        }
        for scheme in ("light", "dark"):
            for width, name in ((1200, scheme), (400, f"{scheme}-narrow")):
                self.scheme(scheme)
                self.width(width)
                for place, path in places.items():
                    self.open(path, page)
                    self.drawn()
                    driver.save_screenshot(str(self.pictures_folder / f"browse-{place}-{name}.png"))
