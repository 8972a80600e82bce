"""A browser with the page of a store, and what a person does with it."""
import unittest

from page import Page
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                     "--no-first-run", "--allow-file-access-from-files"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService("/usr/bin/chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_page_load_timeout(30)
    return driver


class Browsing(unittest.TestCase):
    """A copy of the forum's store with a page that may change it."""

    posts = 60

    @classmethod
    def setUpClass(cls):
        cls.driver = cls.browser()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def setUp(self):
        self.page = Page(self.bin, "--allow-changes", posts=self.posts)
        self.width(1200)
        self.scheme("light")
        self.driver.get(self.page.address)

    def tearDown(self):
        # What the policy of the page keeps out, and faults of its script, are in the browser's log.
        log = [line["message"] for line in self.driver.get_log("browser")]
        self.driver.get("about:blank")
        self.assertEqual(self.page.end(), 0)
        self.assertEqual(log, [])

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": name}]})

    def width(self, pixels):
        """Exactly this wide: a window has a least width of its own."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": False})

    def words(self):
        return self.driver.find_element(By.TAG_NAME, "main").text

    def wait(self, seconds):
        """Asks again until the answer is yes. While a page is replaced, Chromium answers with errors of several kinds."""
        return WebDriverWait(self.driver, seconds, 0.05, ignored_exceptions=[WebDriverException])

    def follow(self, text):
        self.leave(By.LINK_TEXT, text)

    def press(self, text):
        self.leave(By.XPATH, f"//button[normalize-space()='{text}']")

    def leave(self, by, place):
        """Clicks on what leads to another page, and waits for that page: a form may be answered after the click.

        The page that is left is marked, and no element of it is asked again.
        """
        wait = self.wait(20)
        element = wait.until(expected_conditions.element_to_be_clickable((by, place)), f"nothing to click on: {place}")
        self.driver.execute_script("window.isLeft = true")
        element.click()
        wait.until(lambda driver: driver.execute_script(
            "return !window.isLeft && document.readyState === 'complete'"), f"no other page came after {place}")

    def open(self, path, page=None):
        self.driver.get(f"http://127.0.0.1:{(page or self.page).port}{path}")

    def drawn(self):
        """Waits until each picture has its links."""
        self.wait(20).until(lambda driver: not driver.find_elements(By.CSS_SELECTOR, "figure.picture:not(.live)"))

    def ended(self):
        """What the work has come to, when its progress is over."""
        self.wait(60).until(expected_conditions.presence_of_element_located((By.ID, "ended")))
        return self.words()

    def texts(self, selector):
        return [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector)]

    def keys(self):
        """The keys of the objects in the list."""
        return self.texts("tbody th")
