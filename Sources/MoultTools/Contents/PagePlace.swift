/// The place of a page in a list: at one of its ends, or next to an element.
package enum PagePlace<Element: Sendable & Hashable>: Sendable, Hashable {
    case first, last
    case after(Element)
    case before(Element)

    /// Whether the page is read backwards, from its last element.
    var isBackward: Bool {
        switch self {
        case .first, .after: false
        case .last, .before: true
        }
    }

    /// The element that the page is next to; nil at an end.
    var element: Element? {
        switch self {
        case .first, .last: nil
        case .after(let element), .before(let element): element
        }
    }

    /// Returns the elements next to which the neighbouring pages are; nil where there is none.
    ///
    /// - Parameters:
    ///   - elements: the elements of the page, in the order of the list.
    ///   - more: the element beyond which reading continues in the direction of the page; nil at the end of the list.
    func neighbours(_ elements: [Element], more: Element?) -> (previous: Element?, next: Element?) {
        switch self {
        case .first: (nil, more)
        case .after: (elements.first, more)
        case .before: (more, elements.last)
        case .last: (more, nil)
        }
    }
}
