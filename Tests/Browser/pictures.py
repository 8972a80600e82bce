"""The pictures of models on the page and in a file, in headless Chromium."""
import pathlib
import tempfile

from browsing import Browsing
from page import Page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions


class Pictures(Browsing):
    def area(self):
        """The part of the picture that is shown: x, y, width, height."""
        self.wait(20).until(expected_conditions.presence_of_element_located((By.CSS_SELECTOR, "figure > svg")))
        return [float(n) for n in self.driver.execute_script(
            "return document.querySelector('figure > svg').getAttribute('viewBox')").split()]

    def entity(self, name):
        return next(e for e in self.driver.find_elements(By.CSS_SELECTOR, "figure svg .node a") if name in e.text.split())

    def test_picture(self):
        """The picture zooms and moves by mouse and keys, leads to its entities, and follows the versions."""
        driver = self.driver
        self.open("/model")
        whole = self.area()
        driver.find_element(By.CSS_SELECTOR, "[aria-label='Zoom in']").click()
        near = self.area()
        self.assertAlmostEqual(near[2], whole[2] * 0.8, places=3)
        figure = driver.find_element(By.CSS_SELECTOR, "figure.picture")
        ActionChains(driver).move_to_element(figure).click_and_hold().move_by_offset(60, 30).release().perform()
        moved = self.area()
        self.assertLess(moved[0], near[0])
        self.assertLess(moved[1], near[1])
        self.assertTrue(driver.current_url.endswith("/model"), "a drag is no click")
        driver.execute_script("arguments[0].focus()", figure)
        figure.send_keys("0")
        self.assertEqual(self.area(), whole)
        figure.send_keys("+", Keys.ARROW_RIGHT)
        self.assertGreater(self.area()[0], near[0])
        figure.send_keys("0")

        # An attribute is found; its entity is a link, by mouse and by keyboard.
        figure.send_keys("/")
        self.assertEqual(driver.switch_to.active_element.get_attribute("id"), "find")
        driver.switch_to.active_element.send_keys("writtenat")
        hits = driver.find_elements(By.CSS_SELECTOR, "figure .hit")
        self.assertEqual([e.text.split()[0] for e in hits], ["Post"])
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait(20).until(expected_conditions.url_contains("/model?entity=Post"))
        self.area()
        names = {e.text.split()[0] for e in driver.find_elements(By.CSS_SELECTOR, "figure .node")}
        self.assertEqual(names, {"Post", "Thread", "User"})
        driver.execute_script("arguments[0].focus()", self.entity("Thread"))
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait(20).until(expected_conditions.url_contains("/model?entity=Thread"))

        # The versions: what each has changed is coloured.
        self.open("/")
        self.follow("Forum 2")
        self.assertIn("Forum 2, with what has changed since Forum", self.words())
        slider = driver.find_element(By.ID, "place")
        slider.send_keys(Keys.ARROW_RIGHT)
        self.wait(20).until(expected_conditions.text_to_be_present_in_element((By.ID, "version"), "Forum 3, with"))
        self.wait(20).until(lambda driver: "+ since" in driver.find_element(
            By.CSS_SELECTOR, "figure > svg").get_attribute("textContent"))
        self.assertTrue(driver.current_url.endswith("place=2"))
        self.assertEqual(driver.switch_to.active_element.get_attribute("id"), "place")
        self.assertEqual(slider.get_attribute("aria-valuetext"), "Forum 3")

    def test_large_model(self):
        """The overview on the page finds what it does not show, and says so if nothing is found."""
        driver = self.driver
        page = Page(self.bin, entities=40)
        self.addCleanup(page.end)
        driver.get(page.address)
        self.open("/model?version=Forum", page)
        self.area()
        field = driver.find_element(By.CSS_SELECTOR, ".picture-controls input")
        said = driver.find_element(By.CSS_SELECTOR, ".picture-controls output")
        field.send_keys("size27")
        self.assertEqual([e.text for e in driver.find_elements(By.CSS_SELECTOR, "figure .hit")], ["E27"])
        self.assertEqual(said.text, "1 found")
        field.send_keys("no such name")
        self.assertEqual(said.text, "Nothing found")
        # Before the new version is there, the slider names it, and the old picture stays.
        label, figures = driver.execute_script(
            "const slider = document.getElementById('place'); slider.value = 2; slider.dispatchEvent(new Event('input'));"
            "return [document.getElementById('version').textContent, document.querySelectorAll('figure > svg').length]")
        self.assertEqual((label, figures), ("Forum 3", 1))
        self.wait(20).until(expected_conditions.text_to_be_present_in_element((By.ID, "version"), "Forum 3, with"))

    def test_picture_file(self):
        """A large model in one file: an overview of names, and a picture of each entity with its neighbours."""
        driver = self.driver
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "Large.xcdatamodel"
            model.mkdir()
            entities = "".join(
                f'<entity name="E{n}"><attribute name="size{n}" attributeType="String"/>'
                f'<relationship name="up" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="E{n // 6}"/>'
                "</entity>" for n in range(1, 61))
            (model / "contents").write_text(f'<model><entity name="E0"/>{entities}</model>')
            page = model.with_suffix(".html")
            page.write_text(self.page.moult("diagram", model, "--format", "html"))
            driver.get(page.as_uri())
            self.area()
            names = [e.text for e in driver.find_elements(By.CSS_SELECTOR, "figure .node a")]
            self.assertEqual(sorted(names), sorted(f"E{n}" for n in range(61)))
            # It is found by an attribute that the overview does not show.
            driver.find_element(By.TAG_NAME, "body").send_keys("/")
            driver.switch_to.active_element.send_keys("size47", Keys.ENTER)
            self.wait(20).until(lambda driver: driver.execute_script("return location.hash") == "#E47")
            shown = [e.text.split()[0] for e in driver.find_elements(By.CSS_SELECTOR, "figure .node")]
            self.assertEqual(sorted(shown), ["E47", "E7"])
            self.entity("E7").click()
            self.wait(20).until(lambda driver: driver.find_element(By.ID, "place").text == "E7")
            self.assertEqual(len(driver.find_elements(By.CSS_SELECTOR, "figure .node")), 8)
            driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
            self.wait(20).until(lambda driver: len(driver.find_elements(By.CSS_SELECTOR, "figure .node a")) == 61)
            requests = driver.execute_script("return performance.getEntriesByType('resource').length")
            self.assertEqual(requests, 0)
