import Moult
import MoultBasics

extension Site {
    /// The sections of the site.
    enum Tab: String, CaseIterable {
        case store = "Store"
        case model = "Model"
        case sql = "SQL"
        case plan = "Plan"
        case findings = "Findings"
        case history = "History"
        case backups = "Backups"

        var path: String { self == .store ? "/" : "/" + rawValue.lowercased() }
    }

    /// Returns a whole page.
    ///
    /// - Parameters:
    ///   - tab: the section that the page belongs to.
    ///   - refreshes: whether a browser without scripts reloads the page at intervals.
    func page(_ title: String, at tab: Tab?, _ content: HTML, refreshes: Bool = false) -> HTML {
        let links: [HTML] = Tab.allCases.map { other in
            let current: HTML = other == tab ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(other.path)\"\(current)>\(other.rawValue)</a></li>"
        }
        // The list is not below the site's own path.
        let list: HTML =
            root.isEmpty ? "" : "<a href=\"http://\(access.host)/\">Stores</a> › "
        let name = Path.name(of: settings.store)
        let refresh: HTML = refreshes ? "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>" : ""
        return frame(
            title, of: name,
            """
            <link rel="stylesheet" href="/style.css"><script src="/script.js" defer></script>\(refresh)
            """, content,
            header: """
                <header><p class="name">\(list)<bdi>\(name)</bdi></p>\
                <nav aria-label="Parts of the page"><ul>\(links)</ul></nav></header>
                """)
    }

    /// Returns a form with one button.
    func form(
        _ action: String, _ fields: KeyValuePairs<String, String>, button: String, isWeighty: Bool = false,
        _ content: HTML = ""
    ) -> HTML {
        let hidden: [HTML] = fields.map { "<input type=\"hidden\" name=\"\($0)\" value=\"\($1)\">" }
        let kind: HTML = isWeighty ? " class=\"weighty\"" : ""
        return """
            <form method="post" action="\(action)"><input type="hidden" name="form" value="\(access.formToken)">\
            \(hidden)\(content)<button\(kind)>\(button)</button></form>
            """
    }
}

/// Returns a whole document.
///
/// - Parameters:
///   - name: the name of what the page is about, for the title.
///   - resources: the elements of its head for style and script; empty for a browser that is refused.
func frame(_ title: String, of name: String, _ resources: HTML, _ content: HTML, header: HTML? = nil) -> HTML {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(title) – \(name)</title>
    <link rel="icon" href="data:,">
    \(resources)
    </head>
    <body>
    <a class="skip" href="#content">Skip to the content</a>
    \(header ?? "<header><p class=\"name\"><bdi>\(name)</bdi></p></header>")
    <main id="content" tabindex="-1">
    \(content)
    </main>
    </body>
    </html>

    """
}

/// Returns a table that scrolls on its own in a narrow window.
///
/// - Parameter attributes: the attributes of the heads' elements, each with a leading blank.
func table(_ label: String, _ heads: [HTML], _ rows: [HTML], attributes: [HTML] = []) -> HTML {
    let cells: [HTML] = heads.enumerated().map { place, head in
        "<th scope=\"col\"\(place < attributes.count ? attributes[place] : "")>\(head)</th>"
    }
    let lines: [HTML] = rows.map { "<tr>\($0)</tr>\n" }
    return """
        <div class="scroll" role="region" aria-label="\(label)" tabindex="0"><table>
        <thead><tr>\(cells)</tr></thead>
        <tbody>
        \(lines)</tbody></table></div>
        """
}

/// Returns the text of an error: the problem, its place, and the action to take next.
func errorWords(_ error: any Error) -> HTML {
    guard let error = error as? MigrationError else {
        return "<p class=\"error\" role=\"alert\">\(String(describing: error))</p>"
    }
    let cause: HTML = error.cause.map { "<p>\($0)</p>" } ?? ""
    let place: HTML = error.place.isEmpty ? "" : "<p><code>\(error.place)</code></p>"
    // Questions and reasons have lines of their own.
    let blocks = error.message.split(separator: "\n", maxSplits: 1).map(String.init)
    let more: HTML = blocks.count > 1 ? "<pre>\(blocks[1])</pre>" : ""
    return """
        <div class="error" role="alert"><p><strong>\(blocks.first ?? "")</strong></p>\(more)\(place)\(cause)\
        <p>\(prose: error.remedy)</p></div>
        """
}

/// Returns a list of findings, the most severe first.
func list(_ findings: [Finding]) -> HTML {
    guard !findings.isEmpty else { return "<p>Nothing was found.</p>" }
    let items: [HTML] = findings.sorted { $1.severity < $0.severity }.map { finding in
        let keys = finding.keys.map(String.init).joined(separator: ", ")
        let rows: HTML = keys.isEmpty ? "" : "<p>Keys: \(keys)</p>"
        let remedy: HTML = finding.remedy.isEmpty ? "" : "<p>\(prose: finding.remedy)</p>"
        return """
            <li class="\(finding.severity.rawValue)"><p><strong>\(finding.severity.rawValue)</strong> \
            <code>\(finding.code)</code> \(finding.place)</p><p>\(finding.message)</p>\(rows)\(remedy)</li>

            """
    }
    return "<ul class=\"findings\">\(items)</ul>"
}

/// Returns a list of names and values.
func facts(_ pairs: [(String, HTML)]) -> HTML {
    let items: [HTML] = pairs.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }
    return "<dl class=\"facts\">\(items)</dl>"
}

/// A piece of a page. Interpolated values are escaped, unless they are pieces themselves.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    package private(set) var markup: String

    package init(stringLiteral markup: String) { self.markup = markup }
    /// Takes markup that another program has escaped, or that is part of this one.
    init(markup: String) { self.markup = markup }
    package init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { markup += literal }
        package mutating func appendInterpolation(_ text: String) { markup += text.escaped }
        /// Appends a sentence, with what is between backticks as code.
        package mutating func appendInterpolation(prose text: String) {
            let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
            // An odd backtick is text.
            guard pieces.count % 2 == 1 else { return appendInterpolation(text) }
            for (place, piece) in pieces.enumerated() {
                markup += place % 2 == 0 ? String(piece).escaped : "<code>\(String(piece).escaped)</code>"
            }
        }
        package mutating func appendInterpolation(_ number: some BinaryInteger) { markup += String(number) }
        package mutating func appendInterpolation(_ piece: HTML?) { markup += piece?.markup ?? "" }
        package mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { markup += piece.markup } }
    }
}

extension String {
    /// The text, escaped for an element or a quoted attribute. Control characters are spelled out.
    fileprivate var escaped: String {
        var text = ""
        text.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            default: text += String(scalar).printable
            }
        }
        return text
    }
}

extension Site {
    /// The style of all pages: the system's fonts, its light or dark colours, and one column that adapts to a phone's
    /// width.
    static let style = """
        :root { color-scheme: light dark; --ground: #ffffff; --raised: #f6f8fa; --line: #d0d7de; --text: #1f2328;
          --quiet: #57606a; --link: #0550ae; --accent: #0550ae; --on-accent: #ffffff; --error: #a40e26;
          --error-ground: #ffebe9; --warning: #7a4d00; --warning-ground: #fff8c5; }
        @media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --raised: #161b22; --line: #3d444d;
          --text: #e6edf3; --quiet: #9ea7b3; --link: #79c0ff; --accent: #1f6feb; --on-accent: #ffffff;
          --error: #ffa198; --error-ground: #3c1618; --warning: #f2cc60; --warning-ground: #332a0e; } }
        * { box-sizing: border-box; }
        html { background: var(--ground); color: var(--text); -webkit-text-size-adjust: 100%;
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
        body { margin: 0; }
        header { background: var(--raised); border-bottom: 1px solid var(--line); padding: .75rem 1rem 0; }
        header .name { margin: 0 auto; font-weight: 600; }
        header .name, header nav { max-width: 70rem; }
        header .name, header nav, main { margin-left: auto; margin-right: auto; }
        nav ul { display: flex; flex-wrap: wrap; gap: 0 .25rem; list-style: none; margin: 0; padding: 0; }
        header nav a { display: block; padding: .5rem .75rem; color: var(--text); text-decoration: none;
          border-bottom: 3px solid transparent; }
        header nav a:hover { border-bottom-color: var(--line); }
        header nav a[aria-current] { border-bottom-color: var(--accent); font-weight: 600; }
        header nav ul { margin: 0 -.75rem; }
        main { max-width: 72rem; padding: 1rem 1rem 3rem; }
        main:focus { outline: none; }
        h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 1rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
        h1 small, h2 small { font-weight: 400; color: var(--quiet); font-size: .8em; }
        a { color: var(--link); }
        a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible, .scroll:focus-visible {
          outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
        .skip { position: absolute; left: -100rem; }
        .skip:focus { left: .5rem; top: .5rem; background: var(--ground); padding: .5rem; z-index: 1; }
        code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; }
        code { overflow-wrap: anywhere; }
        pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--raised);
          border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; }
        .scroll { width: fit-content; max-width: 100%; overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0 1rem; }
        .scroll pre { border: 0; max-height: 30rem; overflow-y: auto; }
        table { border-collapse: collapse; }
        th, td { text-align: left; vertical-align: top; padding: .4rem .75rem; border-top: 1px solid var(--line); }
        thead th { background: var(--raised); border-top: 0; white-space: nowrap; }
        th small { display: block; font-size: .875rem; font-weight: 400; color: var(--quiet); }
        tbody th { font-weight: 500; }
        tbody tr:hover { background: var(--raised); }
        td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .text { white-space: pre-wrap; overflow-wrap: anywhere; }
        td .text { display: inline-block; width: max-content; max-width: min(32rem, 75vw); }
        td a { white-space: nowrap; }
        @media (max-width: 30rem) { td .text { max-width: 52vw; } tbody th { max-width: 36vw; overflow-wrap: anywhere; } }
        .null { color: var(--quiet); font-size: .875em; }
        figure.scroll { background: #ffffff; padding: 1rem; max-height: 36rem; overflow: auto; }
        figure img { display: block; max-width: none; color: #1f2328; }
        .one-line { white-space: nowrap; }
        .facts { display: flex; flex-wrap: wrap; gap: .25rem 2.5rem; margin: 0; }
        .facts dt { color: var(--quiet); font-size: .875rem; }
        .facts dd { margin: 0 0 .5rem; overflow-wrap: anywhere; }
        .versions { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; padding: 0; }
        .versions li { border: 1px solid var(--line); border-radius: 999px; padding: .15rem .75rem; }
        .versions li[aria-current] { border-color: var(--accent); border-width: 2px; font-weight: 600; }
        .entities { gap: .25rem 1rem; }
        .links { padding-left: 1.25rem; }
        .trail { margin: 0; color: var(--quiet); }
        .pages { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 1rem 0; }
        .hint { color: var(--quiet); }
        .error, .warning, main > ul, main > p { overflow-wrap: anywhere; }
        .error, .warning { border-left: 4px solid; border-radius: 4px; padding: .5rem 1rem; margin: 1rem 0; }
        .error { background: var(--error-ground); border-color: var(--error); }
        .warning { background: var(--warning-ground); border-color: var(--warning); }
        .error strong { color: var(--error); }
        .warning > p > strong { color: var(--warning); }
        .error p, .warning p, .findings p { margin: .25rem 0; }
        .findings { list-style: none; padding: 0; }
        .findings li { border: 1px solid var(--line); border-left-width: 4px; border-radius: 4px; padding: .5rem 1rem;
          margin: .5rem 0; overflow-wrap: anywhere; }
        .findings .error { border-left-color: var(--error); }
        .findings .warning { border-left-color: var(--warning); }
        form[role=search] { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem 0; }
        form[role=search] input { flex: 1 1 14rem; min-width: 0; }
        details { flex: 1 1 100%; order: 1; }
        details input { width: 100%; margin-top: .25rem; }
        input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--quiet); border-radius: 6px;
          padding: .35rem .6rem; }
        input::placeholder { color: var(--quiet); opacity: 1; }
        .actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: 1rem 0; }
        button, .button { display: inline-block; font: inherit; font-weight: 500; cursor: pointer; text-decoration: none;
          color: var(--text); background: var(--raised); border: 1px solid var(--quiet); border-radius: 6px;
          padding: .35rem .9rem; white-space: nowrap; }
        .weighty { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
        button:hover, .button:hover { filter: brightness(1.1); }
        progress { width: 100%; height: 1rem; accent-color: var(--accent); }

        """

    /// Follows the progress of a job, and focuses the search field when the user types `/`.
    static let script = """
        "use strict";
        const root = document.currentScript.src.replace(/script\\.js$/, "");
        const bar = document.querySelector("progress");
        async function follow() {
          try {
            const job = await (await fetch(root + "job.json")).json();
            if (!job || !job.isRunning) return location.replace(root + "job");
            if (job.fraction !== null) bar.value = job.fraction;
            const words = document.getElementById("words");
            if (words.textContent !== job.words) words.textContent = job.words;
            setTimeout(follow, 250);
          } catch {
            document.getElementById("words").textContent = "moult browse has ended.";
          }
        }
        if (bar) follow();
        document.addEventListener("keydown", (event) => {
          const search = document.getElementById("find");
          if (event.key !== "/" || !search || /INPUT|TEXTAREA/.test(document.activeElement.tagName)) return;
          event.preventDefault();
          search.focus();
        });

        """
}
