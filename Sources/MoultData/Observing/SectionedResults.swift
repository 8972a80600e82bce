/// The models of an observer in sections, in the order in which their titles first come.
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection {
    private let sections: [ResultsSection<Element, SectionTitle>]
    private let places: [SectionTitle: Int]

    /// Every model under its title; models of one title stay in their order.
    init(_ models: some Sequence<Element>, title: (Element) -> SectionTitle) {
        var places: [SectionTitle: Int] = [:]
        var sections: [ResultsSection<Element, SectionTitle>] = []
        for model in models {
            let title = title(model)
            let place = places[title] ?? sections.count
            if place == sections.count {
                places[title] = place
                sections.append(ResultsSection(title: title))
            }
            sections[place].elements.append(model)
        }
        self.sections = sections
        self.places = places
    }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { sections.count }
    /// The section at a place, which must be one of the indices.
    public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }
    /// The section of a title; nil if there is none.
    public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
        places[title].map { sections[$0] }
    }
    /// The titles of the sections, in their order.
    public var sectionTitles: [SectionTitle] { sections.map(\.title) }
}

/// The models of one section, in their order.
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Identifiable {
    /// The value that the models of the section have in common: that of the property that the sections are made by.
    public let title: SectionTitle
    fileprivate(set) var elements: [Element] = []

    init(title: SectionTitle) { self.title = title }

    /// The title.
    public var id: SectionTitle { title }
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of models in the section.
    public var endIndex: Int { elements.count }
    /// The model at a place, which must be one of the indices.
    public subscript(position: Int) -> Element { elements[position] }
}
