/// The style and the script that let a reader zoom, move and search a picture in a browser, on the local page and in a
/// file alike.
///
/// A `figure` of the class `picture` has an `img` whose address is also in `data-source`, or the SVG itself. Without
/// scripts, it is a picture.
enum PictureViewer {
    /// The colours that pictures use: as a ground or an arrowhead, and as a line or text, each with its dark one.
    private static let darkColours: [(light: String, dark: String)] = [
        ("white", "#0d1117"), ("#ffffff", "#0d1117"), ("#f6f8fa", "#21262d"), ("#57606a", "#9ea7b3"),
        ("#d0d7de", "#3d444d"),
        ("#8c959f", "#768390"), ("#dafbe1", "#12361f"), ("#1a7f37", "#3fb950"), ("#ffebe9", "#3c1618"),
        ("#cf222e", "#ff7b72"), ("#ddf4ff", "#0c2d4f"), ("#0969da", "#58a6ff"), ("#fff8c5", "#3a2f0b"),
        ("#9a6700", "#d29922"),
    ]

    /// The dark colours, as a style.
    ///
    /// - Parameter place: the selector of what has the pictures, with a blank at its end.
    static func darkStyle(of place: String) -> String {
        let rules = darkColours.flatMap { light, dark in
            ["fill", "stroke"].map { "\(place)[\($0)=\"\(light)\"]{\($0):\(dark)}" }
        }
        return "@media (prefers-color-scheme:dark){\(place)text:not([fill]){fill:#e6edf3}"
            + "\(place)[stroke=\"black\"]{stroke:#e6edf3}\(place)polygon[fill=\"black\"]{fill:#e6edf3}"
            + "\(rules.joined())}"
    }

    static let style =
        #"""
        figure.picture { position: relative; margin: .5rem 0 1rem; border: 1px solid var(--line); border-radius: 8px;
          background: #ffffff; overflow: auto; max-height: 75vh; }
        figure.picture img { display: block; max-width: none; padding: 1rem; color: #1f2328; }
        figure.picture.live { overflow: hidden; min-height: 14rem; padding-top: 2.9rem; }
        figure.picture:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        figure.picture > svg { display: block; width: 100%; height: 100%; touch-action: none; cursor: grab; user-select: none; }
        figure.picture svg a { cursor: pointer; text-decoration: none; }
        figure.picture svg a:hover text, figure.picture svg a:focus text { text-decoration: underline; }
        figure.picture svg a:focus-visible { outline: 3px solid var(--link); }
        figure.picture .node, figure.picture .edge { transition: opacity .1s; }
        figure.picture .dims .node:not(.near):not(.hit), figure.picture .dims .edge:not(.near) { opacity: .2; }
        figure.picture .hit > a > path, figure.picture .hit > path, figure.picture .hit polygon { stroke: #bf3989; stroke-width: 3; }
        .picture-controls { position: absolute; top: .5rem; right: .5rem; display: flex; gap: .25rem; max-width: calc(100% - 1rem); }
        .picture-controls button { padding: .1rem .6rem; min-width: 2rem; }
        .picture-controls output { white-space: nowrap; align-self: center; background: var(--ground); color: var(--text); }
        .picture-controls output:not(:empty) { padding: 0 .5rem; }
        .picture-controls input { min-width: 0; width: 12rem; padding: .1rem .5rem; }
        @media (prefers-color-scheme: dark) { figure.picture { background: #0d1117; } figure.picture img { color: #e6edf3; } }
        form.version { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; }
        form.version input { flex: 0 1 24rem; min-width: 0; padding: 0; accent-color: var(--accent); }
        form.version button[hidden] { display: none; }
        .signs { color: var(--quiet); font-size: .875rem; }
        .signs ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: .25rem 0; padding: 0; }
        .signs .sign { display: inline-block; min-width: 1.4em; text-align: center; border: 1px solid; border-radius: 4px; color: #1f2328; }
        .signs .added { background: #dafbe1; } .signs .removed { background: #ffebe9; }
        .signs .renamed { background: #ddf4ff; } .signs .changed { background: #fff8c5; }

        """# + darkStyle(of: "figure.picture svg ") + "\n"

    /// The meaning of what is drawn, which unfolds below a picture.
    static let signs: HTML = """
        <details class="signs"><summary>Signs</summary><ul>\
        <li><span class="sign added">+</span> added</li><li><span class="sign removed">−</span> removed</li>\
        <li><span class="sign renamed">»</span> renamed</li><li><span class="sign changed">~</span> changed</li>\
        <li>? optional</li><li>a crow’s foot: many</li><li>a bar: one</li><li>a ring: or none</li>\
        <li>a triangle: the parent entity</li><li>a dashed line: into another cluster</li></ul>\
        <p>Drag to move. Control and the wheel, + and −, or two fingers zoom; 0 fits. The arrow keys move, Tab goes \
        from entity to entity.</p></details>
        """

    static let script = #"""
        "use strict";
        // Shows an SVG in a figure, where it can be moved and zoomed. textOf gives the text of a box that is searched.
        function showPicture(figure, svg, textOf = (node) => node.textContent) {
          const area = svg.viewBox.baseVal;
          const whole = [area.x, area.y, area.width, area.height];
          for (const name of ["width", "height"]) svg.removeAttribute(name);
          svg.querySelectorAll("title").forEach((title) => title.remove());
          for (const link of svg.querySelectorAll("a")) {
            if (!link.hasAttribute("href")) link.setAttribute("href", link.getAttribute("xlink:href"));
            link.removeAttribute("xlink:href");
          }
          svg.setAttribute("role", "group");
          svg.setAttribute("aria-label", "Entities");
          figure.querySelectorAll("svg, img").forEach((old) => old.remove());
          figure.prepend(svg);
          figure.classList.add("live");
          // At its natural size where there is room, and whole where it can be read so; a point is 4/3 pixels.
          const wide = svg.clientWidth;
          const isPage = "page" in figure.dataset;
          if (!isPage) {
            const scale = Math.max(Math.min(4 / 3, wide / whole[2]), 0.6);
            figure.style.height = Math.min(innerHeight * 0.75, Math.max(whole[3] * scale + 64, 224)) + "px";
          }
          const tall = svg.clientHeight;
          const size = Math.max(whole[2], wide * 0.75, (whole[3] * wide) / tall);
          const fitted = [whole[0] + (whole[2] - size) / 2, 0, size, (size * tall) / wide];
          fitted[1] = whole[1] + (whole[3] - fitted[3]) / 2;
          let view;
          const set = (next) => { view = next; svg.setAttribute("viewBox", view.join(" ")); };
          // If the whole picture would be too small to read, begin at its upper left.
          const least = Math.min(size, wide / 0.6);
          set(least < size ? [whole[0], whole[1], least, (least * tall) / wide] : [...fitted]);
          const place = (x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
          const move = (x, y) => set([view[0] + x, view[1] + y, view[2], view[3]]);
          const zoom = (factor, x, y) => {
            factor = Math.min(Math.max(factor, whole[2] / 60 / view[2]), (3 * fitted[2]) / view[2]);
            const box = svg.getBoundingClientRect();
            const at = place(x ?? box.left + box.width / 2, y ?? box.top + box.height / 2);
            set([at.x - (at.x - view[0]) * factor, at.y - (at.y - view[1]) * factor, view[2] * factor, view[3] * factor]);
          };
          const reveal = (node) => {
            const box = node.getBoundingClientRect(), frame = figure.getBoundingClientRect();
            const isInside = box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
            if (isInside) return;
            const at = place(box.left + box.width / 2, box.top + box.height / 2);
            move(at.x - view[0] - view[2] / 2, at.y - view[1] - view[3] / 2);
          };

          // Fingers and the mouse.
          const fingers = new Map();
          let moved = 0;
          svg.addEventListener("pointerdown", (event) => {
            if (event.button !== 0) return;
            if (!fingers.size) moved = 0;
            fingers.set(event.pointerId, event);
          });
          svg.addEventListener("pointermove", (event) => {
            const before = fingers.get(event.pointerId);
            if (!before) return;
            const apart = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY); };
            const was = fingers.size === 2 ? apart() : 0;
            fingers.set(event.pointerId, event);
            moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
            if (moved > 4 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
            if (was) {
              const [a, b] = [...fingers.values()];
              return zoom(was / Math.max(apart(), 1), (a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
            }
            const [from, to] = [place(before.clientX, before.clientY), place(event.clientX, event.clientY)];
            move(from.x - to.x, from.y - to.y);
          });
          for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, (event) => fingers.delete(event.pointerId));
          svg.addEventListener("dragstart", (event) => event.preventDefault());
          svg.addEventListener("click", (event) => { if (moved > 4) { event.preventDefault(); event.stopPropagation(); } moved = 0; }, true);
          svg.addEventListener("wheel", (event) => {
            if (!isPage && !event.ctrlKey && !event.metaKey) return;
            event.preventDefault();
            zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 200), event.clientX, event.clientY);
          }, { passive: false });

          figure.querySelector(".picture-controls")?.remove();
          const controls = figure.appendChild(document.createElement("div"));
          controls.className = "picture-controls";
          const field = controls.appendChild(document.createElement("input"));
          Object.assign(field, { type: "search", placeholder: "Find in the picture", autocomplete: "off" });
          field.setAttribute("aria-label", "Find in the picture");
          if (!document.getElementById("find")) field.id = "find";
          const said = controls.appendChild(document.createElement("output"));
          let hits = [];

          // The boxes that an edge links.
          const ends = (edge) => edge.id.split("-").slice(1).map((number) => "e" + number);
          const near = (node) => {
            if (field.value) node = null;
            svg.querySelectorAll(".near").forEach((old) => old.classList.remove("near"));
            svg.classList.toggle("dims", Boolean(node) || hits.length > 0);
            if (!node) return;
            const names = new Set([node.id]);
            for (const edge of svg.querySelectorAll(".edge")) {
              if (!ends(edge).includes(node.id)) continue;
              edge.classList.add("near");
              ends(edge).forEach((name) => names.add(name));
            }
            for (const other of svg.querySelectorAll(".node")) if (names.has(other.id) || other.id.startsWith("g")) other.classList.add("near");
          };
          const boxOf = (event) => event.target.closest?.(".node[id^=e]");
          svg.addEventListener("pointerover", (event) => near(boxOf(event)));
          svg.addEventListener("pointerleave", () => near(null));
          svg.addEventListener("focusin", (event) => { const node = boxOf(event); if (node) { near(node); reveal(node); } });
          svg.addEventListener("focusout", () => near(null));

          // Keys, and buttons for the same.
          const keys = {
            "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), "0": () => set([...fitted]),
            ArrowLeft: () => move(-view[2] / 10, 0), ArrowRight: () => move(view[2] / 10, 0),
            ArrowUp: () => move(0, -view[3] / 10), ArrowDown: () => move(0, view[3] / 10),
          };
          figure.onkeydown = (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT" || !keys[event.key]) return;
            event.preventDefault();
            keys[event.key]();
          };
          field.addEventListener("input", () => {
            const words = field.value.trim().toLowerCase();
            const nodes = [...svg.querySelectorAll(".node[id^=e]")];
            hits = words ? nodes.filter((node) => textOf(node).toLowerCase().includes(words)) : [];
            for (const node of nodes) node.classList.toggle("hit", hits.includes(node));
            said.textContent = !words ? "" : hits.length ? `${hits.length} found` : "Nothing found";
            near(null);
            if (hits.length) reveal(hits[0]);
          });
          field.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" || !hits.length) return;
            if (hits.length === 1) {
              const link = hits[0].querySelector("a");
              if (link) return link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
            }
            hits.push(hits.shift());
            reveal(hits[0]);
          });
          for (const [words, label, key] of [["+", "Zoom in", "+"], ["−", "Zoom out", "-"], ["Fit", "Fit", "0"]]) {
            const button = controls.appendChild(document.createElement("button"));
            Object.assign(button, { type: "button", textContent: words, title: label });
            button.setAttribute("aria-label", label);
            button.addEventListener("click", keys[key]);
          }
        }

        // What the page's text says of each entity, by name: an overview shows names alone.
        function entityTexts() {
          const texts = new Map();
          for (const head of document.querySelectorAll("#text h2")) {
            const words = [head.textContent];
            for (let next = head.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) {
              for (const row of next.querySelectorAll("tbody tr")) words.push(row.cells[0].textContent, row.cells[1].textContent);
            }
            texts.set(head.textContent, words.join(" "));
          }
          return texts;
        }

        // Replaces the image of a figure by its SVG, which has links. Returns whether there is one; a figure that got
        // another source meanwhile is left alone.
        async function livePicture(figure) {
          const source = figure.dataset.source;
          const answer = await fetch(source);
          if (!answer.ok || !answer.headers.get("Content-Type").startsWith("image/svg")) return false;
          // The style is that of the page, whose policy allows no other.
          const text = (await answer.text()).replace(/<style>[^<]*<\/style>/, "");
          const drawing = new DOMParser().parseFromString(text, "image/svg+xml");
          if (drawing.querySelector("parsererror")) return false;
          if (figure.dataset.source !== source) return true;
          const texts = entityTexts();
          const entity = (node) => {
            const href = node.querySelector("a")?.getAttribute("href");
            return href && new URL(href, location.href).searchParams.get("entity");
          };
          showPicture(figure, document.importNode(drawing.documentElement, true),
            (node) => `${node.textContent} ${texts.get(entity(node)) ?? ""}`);
          return true;
        }
        document.querySelectorAll("figure.picture[data-source]").forEach(livePicture);

        // The versions of a model: the slider shows each with what it has changed.
        const versions = document.querySelector("input[type=range][name=place]");
        if (versions) {
          let waiting, turn = 0;
          const names = versions.dataset.names.split("\n");
          versions.form.querySelector("button").hidden = true;
          versions.addEventListener("input", () => {
            clearTimeout(waiting);
            const own = ++turn;
            document.getElementById("version").textContent = names[versions.value];
            versions.setAttribute("aria-valuetext", names[versions.value]);
            waiting = setTimeout(async () => {
              const address = versions.dataset.address + versions.value;
              const answer = await fetch(address);
              if (own !== turn) return;
              if (!answer.ok) return location.assign(address);
              const page = new DOMParser().parseFromString(await answer.text(), "text/html");
              if (own !== turn) return;
              for (const id of ["version", "text"]) {
                const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
                if (old && fresh) old.replaceChildren(...fresh.childNodes);
              }
              history.replaceState(null, "", address);
              // The old picture stays until the new one is there.
              const [old, fresh] = [document, page].map((place) => place.querySelector("#picture figure.picture"));
              if (!old || !fresh) return;
              old.dataset.source = fresh.dataset.source;
              if (!(await livePicture(old)) && own === turn) old.replaceWith(fresh);
            }, 120);
          });
        }

        """#
}
