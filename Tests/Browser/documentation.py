"""Draws the pictures of the page in Documentation/Pictures anew: documentation.py BUILD-FOLDER [FOLDER]."""
import pathlib
import sys
import tempfile

from browsing import Browsing, browser
from page import ROOT, Page

# A model of 88 entities: eight things with eleven parts each.
THINGS = ("Order", "Product", "Customer", "Payment", "Shipment", "Coupon", "Review", "Store")
PARTS = ("Item", "Note", "Tax", "Label", "Option", "Setting", "Image", "Event", "Total", "Draft")
LINKS = {
    "Order": ("Customer", "Coupon", "Store"), "Payment": ("Order",), "Shipment": ("Order", "Store"),
    "Review": ("Product", "Customer"), "OrderItem": ("Product",), "Product": ("Store",), "Coupon": ("Product",),
}


def large_model(folder):
    """Writes the model of 88 entities; returns its path."""
    names = [thing + part for thing in THINGS for part in ("", *PARTS)]
    ends = {name: list(LINKS.get(name, ())) for name in names}
    for thing in THINGS:
        for part in PARTS:
            ends[thing + part].append(thing)
    to_many = {name: [] for name in names}
    for name, others in ends.items():
        for other in others:
            to_many[other].append(name)
    lower = lambda name: name[0].lower() + name[1:]
    text = []
    for name in names:
        relationships = [
            f'<relationship name="{lower(other)}" optional="YES" maxCount="1" deletionRule="Nullify" '
            f'destinationEntity="{other}" inverseName="{lower(name)}s" inverseEntity="{other}"/>' for other in ends[name]
        ] + [
            f'<relationship name="{lower(other)}s" optional="YES" toMany="YES" deletionRule="Cascade" '
            f'destinationEntity="{other}" inverseName="{lower(name)}" inverseEntity="{other}"/>' for other in to_many[name]]
        text.append(
            f'<entity name="{name}" representedClassName="{name}"><attribute name="name" attributeType="String"/>'
            f'<attribute name="changedAt" optional="YES" attributeType="Date"/>{"".join(relationships)}</entity>')
    model = pathlib.Path(folder) / "Shop.xcdatamodeld"
    version = model / "Shop.xcdatamodel"
    version.mkdir(parents=True)
    (version / "contents").write_text(f"<model>{''.join(text)}</model>")
    return model


class Drawing(Browsing):
    """What the pictures need of a browser."""

    def shoot(self, place, widths=(1200,)):
        """Keeps a picture of what is shown, in light and dark."""
        for scheme in ("light", "dark"):
            self.scheme(scheme)
            for pixels in widths:
                self.width(pixels)
                self.drawn()
                name = f"browse-{place}-{scheme}{'' if pixels == 1200 else '-narrow'}.png"
                self.driver.save_screenshot(str(self.folder / name))
                print(self.folder / name)
        self.scheme("light")
        self.width(1200)

    def draw(self):
        self.width(1200)
        # The path of the store is in the pictures.
        page = self.page = Page(self.bin, "--allow-changes", threads=12, folder="/tmp/forum")
        try:
            page.sql("UPDATE ZUSER SET ZNAME = CASE Z_PK % 3 WHEN 0 THEN 'Ann' WHEN 1 THEN 'Bob' ELSE 'Cleo' END || ' ' || "
                     "Z_PK; UPDATE ZPOST SET ZAUTHOR = 1 + Z_PK % 9, ZTHREAD = 1 + Z_PK % 12")
            self.driver.get(page.address)
            self.open("/")
            self.shoot("store", (1200, 400))
            self.open("/object?entity=User&key=2")
            self.shoot("object")
            self.open("/model?version=Forum+3")
            self.shoot("difference")
            self.open("/plan")
            self.shoot("plan", (1200, 400))
            self.follow("Migrate …")
            self.press("Migrate")
            self.ended()
            self.shoot("result")
        finally:
            self.driver.get("about:blank")
            page.end()
        with tempfile.TemporaryDirectory() as folder:
            page = self.page = Page(self.bin, model=large_model(folder))
            try:
                self.driver.get(page.address)
                self.open("/model")
                self.shoot("model")
            finally:
                self.driver.get("about:blank")
                page.end()


def main():
    Drawing.bin = sys.argv[1]
    Drawing.folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "Documentation/Pictures"
    Drawing.folder.mkdir(exist_ok=True)
    Drawing.driver = browser()
    try:
        Drawing().draw()
    finally:
        Drawing.driver.quit()


if __name__ == "__main__":
    main()
