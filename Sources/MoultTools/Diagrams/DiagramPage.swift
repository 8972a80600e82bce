import Moult
import MoultBasics

extension Diagram {
    /// The picture as one HTML file that loads nothing: it zooms, moves and can be searched, and a click on an entity
    /// shows it with those that it is linked to.
    ///
    /// - Parameters:
    ///   - isWhole: whether to show what is in the boxes of a large picture, too.
    ///   - program: another name of Graphviz's program, for tests.
    /// - Throws: as ``Graphviz/svg(_:program:)``.
    package func html(isWhole: Bool = false, program: String = "dot") throws -> String {
        var diagram = self
        // A sequence has no neighbourhoods.
        let hasParts = !isFlow && boxes.count > 1
        // An entity keeps its address when others come and go.
        let addresses = boxes.reduce(into: [String]()) { addresses, box in
            var name = box.title.percentEncoded()
            while addresses.contains(name) { name += "_" }
            addresses.append(name)
        }
        if hasParts { for place in boxes.indices { diagram.boxes[place].address = "#" + addresses[place] } }
        // The page has the titles.
        diagram.title = ""
        let main = diagram.isLarge && !isWhole ? diagram.overview : diagram
        let parts = hasParts ? boxes.indices.map { diagram.neighbourhood(of: $0) } : []
        // Graphviz lays out all that follows an overview as it does that one.
        var pictures = try Graphviz.svgs(parts + [main], program: program).map(\.inHTML)
        let first = pictures.popLast() ?? ""
        let templates: [HTML] = zip(boxes, pictures).enumerated().map { number, part in
            "<template data-name=\"\(addresses[number])\" data-title=\"\(part.0.title)\">\(HTML(markup: part.1))</template>\n"
        }
        let names = boxes.enumerated().inByteOrder { $0.element.title }
        let items: [HTML] = names.map { number, box in
            "<li><a href=\"#\(addresses[number])\"><bdi>\(box.title)</bdi></a></li>"
        }
        let list: HTML =
            hasParts
            ? "<details><summary>\(Quantity.count(boxes.count, "entity", plural: "entities"))</summary><ul>\(items)</ul></details>"
            : ""
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
            style-src '\(Self.pageStyle.policyHash)'; script-src '\(Self.pageScript.policyHash)'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="data:,">
            <title>\(title.isEmpty ? "Moult" : title)</title>
            <style>\(HTML(markup: Self.pageStyle))</style>
            </head>
            <body>
            <header><h1><bdi>\(title)</bdi></h1><p><a href="#" id="all" hidden>All entities</a> <b><bdi id="place"></bdi></b></p>\
            \(list)\(PictureViewer.signs)</header>
            <main><figure class="picture" data-page role="region" aria-label="Picture" tabindex="0">
            \(HTML(markup: first))</figure></main>
            \(templates)<script>\(HTML(markup: Self.pageScript))</script>
            </body>
            </html>

            """
        return page.markup
    }

    private static let pageStyle =
        #"""

        :root { color-scheme: light dark; --ground: #ffffff; --line: #d0d7de; --text: #1f2328; --quiet: #57606a; --link: #0550ae; }
        @media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --line: #3d444d; --text: #e6edf3; --quiet: #9ea7b3; --link: #79c0ff; } }
        * { box-sizing: border-box; }
        html, body { height: 100%; }
        body { margin: 0; display: flex; flex-direction: column; background: var(--ground); color: var(--text);
          font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
        header { display: flex; flex-wrap: wrap; gap: 0 1.25rem; align-items: baseline; padding: .5rem 1rem; }
        h1 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
        header p { margin: 0; }
        header details[open] { flex: 1 1 100%; order: 1; max-height: 35vh; overflow: auto; }
        header details ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; list-style: none; margin: 0; padding: 0; }
        a { color: var(--link); }
        button, input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--quiet); border-radius: 6px; }
        button { cursor: pointer; }
        a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        main { flex: 1 1 auto; min-height: 16rem; padding: 0 1rem 1rem; }
        figure.picture[data-page] { height: 100%; max-height: none; margin: 0; }

        """# + PictureViewer.style

    private static let pageScript =
        PictureViewer.script + #"""
            const figure = document.querySelector("figure");
            const main = figure.querySelector("svg").cloneNode(true);
            const parts = [...document.querySelectorAll("template")];
            const untitle = (element) => element.querySelectorAll("title").forEach((title) => title.remove());
            for (const element of [main, ...parts.map((part) => part.content)]) untitle(element);
            // An entity is found by all that its own picture says of it, also where its box shows the name alone.
            const target = (node) => {
              const link = node.querySelector("a");
              return (link?.getAttribute("href") ?? link?.getAttribute("xlink:href"))?.slice(1);
            };
            const texts = new Map(parts.map((part) => {
              const node = [...part.content.querySelectorAll(".node")].find((node) => target(node) === part.dataset.name);
              const edges = [...part.content.querySelectorAll(".edge")].filter((edge) => edge.id.split("-").slice(1).includes(node?.id.slice(1)));
              return [part.dataset.name, [node, ...edges].map((element) => element?.textContent).join(" ")];
            }));
            function show() {
              const part = parts.find((part) => part.dataset.name === location.hash.slice(1));
              showPicture(figure, (part?.content.querySelector("svg") ?? main).cloneNode(true), (node) => texts.get(target(node)) ?? node.textContent);
              document.getElementById("all").hidden = !part;
              document.getElementById("place").textContent = part ? part.dataset.title : "";
            }
            addEventListener("hashchange", show);
            addEventListener("resize", show);
            document.addEventListener("keydown", (event) => {
              if (event.key === "Escape" && location.hash.length > 1) location.hash = "";
              if (event.key !== "/" || document.activeElement.tagName === "INPUT") return;
              event.preventDefault();
              document.getElementById("find").focus();
            });
            show();

            """#
}

extension String {
    /// The part of an SVG document that HTML takes: its root element.
    fileprivate var inHTML: String { firstRange(of: "<svg").map { String(self[$0.lowerBound...]) } ?? "" }

    /// The hash by which a Content-Security-Policy allows the text of an element.
    fileprivate var policyHash: String { "sha256-\(Digest.sha256(utf8).base64)" }
}
