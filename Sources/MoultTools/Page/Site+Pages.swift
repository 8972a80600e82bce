import MoultBasics

extension PagePlace {
    /// Reads the place from an address.
    ///
    /// - Parameter element: returns the element with a key.
    init(_ request: Request, _ element: (Int64) -> Element) {
        func found(_ name: String) -> Element? { request.query[name].flatMap { Int64($0) }.map(element) }
        if let before = found("before") {
            self = .before(before)
        } else if let after = found("after") {
            self = .after(after)
        } else {
            self = request.query["page"] == "last" ? .last : .first
        }
    }

    /// Returns the fields of an address that name the place.
    ///
    /// - Parameter fields: returns the fields of an element, for its key in a field of the given name.
    func fields(_ fields: (_ name: String, Element) -> [(String, String)]) -> [(String, String)] {
        switch self {
        case .first: []
        case .last: [("page", "last")]
        case .after(let element): fields("after", element)
        case .before(let element): fields("before", element)
        }
    }
}

extension Site {
    /// Returns the page at a place; the first one if it begins the list, so that it is full and has one address.
    ///
    /// - Parameter read: returns the page at a place.
    func filled<Page, Element>(
        _ place: PagePlace<Element>, _ read: (PagePlace<Element>) throws -> Page,
        isFirst: (Page) -> Bool
    ) rethrows -> (place: PagePlace<Element>, page: Page) {
        let page = try read(place)
        return place.isBackward && isFirst(page) ? (.first, try read(.first)) : (place, page)
    }

    /// Returns the links to the other pages of a list. A script follows them by the arrow keys.
    ///
    /// - Parameters:
    ///   - previous: the element before which the previous page ends; nil if there is none.
    ///   - next: the element after which the next page begins; nil if there is none.
    ///   - isUnfinished: whether the page was searched for in a part of the list alone.
    ///   - address: returns the address of the page at a place.
    func pageLinks<Element>(
        at place: PagePlace<Element>, _ previous: Element?, _ next: Element?, isUnfinished: Bool = false,
        _ address: (PagePlace<Element>) -> String
    ) -> HTML {
        func link(_ relation: String, _ key: String, _ words: String, _ place: PagePlace<Element>) -> HTML {
            "<a rel=\"\(relation)\" href=\"\(address(place))\" aria-keyshortcuts=\"\(key)\">\(words)</a>"
        }
        func words(_ page: String, continues: Bool) -> String {
            isUnfinished && continues ? "Continue searching" : page
        }
        var links: [HTML] = []
        if place != .first { links.append(link("first", "Shift+ArrowLeft", "First page", .first)) }
        if let previous {
            let label = words("Previous page", continues: place.isBackward)
            links.append(link("prev", "ArrowLeft", label, .before(previous)))
        }
        if let next {
            let label = words("Next page", continues: !place.isBackward)
            links.append(link("next", "ArrowRight", label, .after(next)))
            links.append(link("last", "Shift+ArrowRight", "Last page", .last))
        }
        guard !links.isEmpty else { return "" }
        return """
            <nav class="pages" aria-label="Pages">\(links)<span class="hint">Keys: ← →, with Shift for the first and the \
            last</span></nav>
            """
    }
}
