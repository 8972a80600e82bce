import Moult
import MoultModel
import MoultReport
import MoultSystem

extension Site {
    /// The parts of the page.
    enum Tab: String, CaseIterable {
        case store = "Store"
        case model = "Model"
        case plan = "Plan"
        case findings = "Findings"
        case history = "History"
        case backups = "Backups"

        fileprivate var path: String { self == .store ? "/" : "/" + rawValue.lowercased() }
    }

    /// A whole page.
    ///
    /// - Parameters:
    ///   - tab: the part that it belongs to.
    ///   - isBare: whether it says nothing about the store, for a browser that is refused.
    ///   - refreshes: whether a browser without scripts loads it again.
    func page(
        _ title: String, at tab: Tab?, _ content: HTML, isBare: Bool = false, refreshes: Bool = false
    ) -> HTML {
        let name = isBare ? "Moult" : Path.name(of: settings.store)
        let links: [HTML] = Tab.allCases.map { other in
            let current: HTML = other == tab ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(other.path)\"\(current)>\(other.rawValue)</a></li>"
        }
        let navigation: HTML =
            isBare
            ? ""
            : """
            <nav aria-label="Parts of the page"><ul>\(links)</ul></nav>
            """
        let refresh: HTML = refreshes ? "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>" : ""
        let resources: HTML =
            isBare
            ? "" : "<link rel=\"stylesheet\" href=\"/style.css\"><script src=\"/script.js\" defer></script>"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) – \(name)</title>
            <link rel="icon" href="data:,">
            \(resources)\(refresh)
            </head>
            <body>
            <a class="skip" href="#content">Skip to the content</a>
            <header><p class="name"><bdi>\(name)</bdi></p>\(navigation)</header>
            <main id="content" tabindex="-1">
            \(content)
            </main>
            </body>
            </html>

            """
    }

    /// A form with one button.
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

/// A table that scrolls by itself where the window is narrow.
func table(_ label: String, _ heads: [HTML], _ rows: [HTML]) -> HTML {
    let cells: [HTML] = heads.map { "<th scope=\"col\">\($0)</th>" }
    let lines: [HTML] = rows.map { "<tr>\($0)</tr>\n" }
    return """
        <div class="scroll" role="region" aria-label="\(label)" tabindex="0"><table>
        <thead><tr>\(cells)</tr></thead>
        <tbody>
        \(lines)</tbody></table></div>
        """
}

/// Returns the text for an error: what was found, where, and what to do next.
func errorWords(_ error: any Error) -> HTML {
    guard let error = error as? MigrationError else {
        return "<p class=\"error\" role=\"alert\">\(String(describing: error))</p>"
    }
    let cause: HTML = error.cause.map { "<p>\($0)</p>" } ?? ""
    let place: HTML = error.place.isEmpty ? "" : "<p><code>\(error.place)</code></p>"
    return """
        <div class="error" role="alert"><p><strong>\(error.message)</strong></p>\(place)\(cause)\
        <p>\(error.remedy)</p></div>
        """
}

/// Findings, the worst first.
func list(_ findings: [Finding]) -> HTML {
    guard !findings.isEmpty else { return "<p>Nothing was found.</p>" }
    let items: [HTML] = findings.sorted { $1.severity < $0.severity }.map { finding in
        let keys = finding.keys.map(String.init).joined(separator: ", ")
        let rows: HTML = keys.isEmpty ? "" : "<p>Keys: \(keys)</p>"
        let remedy: HTML = finding.remedy.isEmpty ? "" : "<p>\(finding.remedy)</p>"
        return """
            <li class="\(finding.severity.rawValue)"><p><strong>\(finding.severity.rawValue)</strong> \
            <code>\(finding.code)</code> \(finding.place)</p><p>\(finding.message)</p>\(rows)\(remedy)</li>

            """
    }
    return "<ul class=\"findings\">\(items)</ul>"
}

/// Names and what they are.
func facts(_ pairs: [(String, HTML)]) -> HTML {
    let items: [HTML] = pairs.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }
    return "<dl class=\"facts\">\(items)</dl>"
}
