/// Leaves of a user's title what a forum may show: text and basic formatting, in tags that are all closed.
struct HTMLCleaner {
    /// Tags that stay, without their attributes.
    private static let kept: Set<String> = [
        "b", "i", "u", "s", "em", "strong", "small", "big", "sub", "sup", "p", "a", "br",
    ]
    /// Tags that are never closed.
    private static let void: Set<String> = ["br"]
    /// Elements that go with everything in them.
    private static let removed: Set<String> = [
        "script", "style", "iframe", "object", "noscript", "noembed", "noframes", "template", "textarea", "title",
        "xmp", "plaintext", "svg", "math",
    ]

    private var html = ""
    private var open: [String] = []
    /// The element that is being removed, and how many of its name are open.
    private var removing: (name: String, depth: Int)?

    /// Nil where nothing is left that could be shown.
    static func clean(_ html: String) -> String? {
        var cleaner = HTMLCleaner()
        for token in HTMLTokenizer(html) { cleaner.take(token) }
        while let name = cleaner.open.popLast() { cleaner.html += "</\(name)>" }
        let isShown = HTMLTokenizer(cleaner.html).contains { token in
            if case .text(let text) = token { !text.allSatisfy(\.isWhitespace) } else { false }
        }
        return isShown ? cleaner.html : nil
    }

    private mutating func take(_ token: HTMLToken) {
        if let (name, depth) = removing {
            switch token {
            case .start(name, _): removing = (name, depth + 1)
            case .end(name): removing = depth > 1 ? (name, depth - 1) : nil
            default: break
            }
            return
        }
        switch token {
        case .text(let text): html += Self.escaped(text)
        case .start(let name, let attributes): begin(name, attributes)
        case .end(let name): end(name)
        case .markup: break
        }
    }

    private mutating func begin(_ name: String, _ attributes: [String: String]) {
        if Self.removed.contains(name) { removing = (name, 1) }
        guard Self.kept.contains(name) else { return }
        let link = name == "a" ? attributes["href"].flatMap(Self.link) : nil
        html += link.map { "<a href=\"\($0)\">" } ?? "<\(name)>"
        if !Self.void.contains(name) { open.append(name) }
    }

    /// Closes the element and those opened inside it; an end tag that closes nothing goes.
    private mutating func end(_ name: String) {
        guard open.contains(name) else { return }
        while let last = open.popLast() {
            html += "</\(last)>"
            if last == name { break }
        }
    }

    /// The target of a link that leads to a page, safe within double quotes.
    private static func link(_ target: String) -> String? {
        let url = HTMLEntities.decoded(target).filter { !$0.isWhitespace }
        guard ["https://", "http://"].contains(where: { url.lowercased().hasPrefix($0) }) else { return nil }
        return escaped(url.replacing("&", with: "&amp;")).replacing("\"", with: "&quot;")
    }

    /// Text cannot open a tag; its entities stay as they are.
    private static func escaped(_ text: String) -> String {
        text.replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
