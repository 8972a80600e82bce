import Foundation
import Observation
import Synchronization

/// The models that a descriptor matches, kept up to date with the context and its stores.
///
///     let observer = try ResultsObserver<Book, Never>(sortBy: [SortDescriptor(\.title)], modelContext: context)
///     withObservationTracking { show(observer.results) } onChange: { … }
///
/// The observer belongs to the thread or actor of its context. Any change in the context, saved or not, and any save by
/// another context of the container notifies the observers of ``results`` and ``sections``; the next read of either
/// fetches the models again. Saves by other processes become visible with the next change or save in this one. Use
/// `Never` as the `SectionTitle` for no sections.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
    /// The context that the models are fetched from.
    public let modelContext: ModelContext
    /// The property that determines the sections; nil for no sections.
    public let sectionBy: PartialKeyPath<Element>?
    private let sectioning: Sections?
    private var wanted: FetchDescriptor<Element>
    private var found: (results: FetchResultsCollection<Element>, sections: SectionedResults<Element, SectionTitle>?)
    private let isStale = Mutex(false)
    private let registrar = ObservationRegistrar()
    private var saves: Int?

    /// The rule that assigns models to sections.
    struct Sections {
        let keyPath: PartialKeyPath<Element>
        /// An array, because optimised clients that copy a `SortDescriptor` itself do not link: Foundation's library
        /// hides the type of its comparison.
        let sortBy: [SortDescriptor<Element>]
        let title: (Element) -> SectionTitle
    }

    init(_ descriptor: FetchDescriptor<Element>, _ sections: Sections?, _ context: ModelContext) throws {
        modelContext = context
        sectionBy = sections?.keyPath
        sectioning = sections
        wanted = descriptor
        if let sections { wanted.sortBy.insert(contentsOf: sections.sortBy, at: 0) }
        found = try Self.found(wanted, sections, context)
        context.graph.observers.append(WeakContextObserver(observer: self))
        let this = WeakContextObserver(observer: self)
        saves = context.graph.stack.coordinator.observeSaves { _ in this.observer?.contextDidChange() }
    }

    deinit { if let saves { modelContext.graph.stack.coordinator.stopObserving(saves) } }

    // MARK: - Results

    /// The current models. If a later fetch fails, they stay as they are, and the next read tries again.
    public var results: FetchResultsCollection<Element> {
        registrar.access(self, keyPath: \.results)
        update()
        return found.results
    }

    /// The current models in sections; nil without ``sectionBy``.
    public var sections: SectionedResults<Element, SectionTitle>? {
        registrar.access(self, keyPath: \.sections)
        update()
        return found.sections
    }

    private func update() {
        let wasStale = isStale.withLock { stale in
            defer { stale = false }
            return stale
        }
        guard wasStale else { return }
        do {
            found = try Self.found(wanted, sectioning, modelContext)
        } catch {
            isStale.withLock { $0 = true }
        }
    }

    private static func found(
        _ descriptor: FetchDescriptor<Element>, _ sections: Sections?, _ context: ModelContext
    ) throws -> (FetchResultsCollection<Element>, SectionedResults<Element, SectionTitle>?) {
        let results = try context.fetch(descriptor, batchSize: 256)
        return (results, sections.map { SectionedResults(results, title: $0.title) })
    }

    // MARK: - The fetch

    /// The descriptor of the current fetch, sorted by section first.
    public var fetchDescriptor: FetchDescriptor<Element> { wanted }

    /// The predicate of the fetch; nil for all models.
    public var filterBy: Foundation.Predicate<Element>? {
        get { wanted.predicate }
        set {
            wanted.predicate = newValue
            contextDidChange()
        }
    }

    /// The order of the models within their sections; nil for none.
    public var sortBy: [SortDescriptor<Element>]? {
        get {
            let given = sectioning == nil ? wanted.sortBy : Array(wanted.sortBy.dropFirst())
            return given.isEmpty ? nil : given
        }
        set {
            wanted.sortBy = (sectioning?.sortBy ?? []) + (newValue ?? [])
            contextDidChange()
        }
    }
}

extension ResultsObserver: ContextObserver {
    func contextDidChange() {
        let wasStale = isStale.withLock { stale in
            defer { stale = true }
            return stale
        }
        // Readers that have been notified and have not read since do not need another notification.
        guard !wasStale else { return }
        registrar.withMutation(of: self, keyPath: \.results) {}
        registrar.withMutation(of: self, keyPath: \.sections) {}
    }
}

/// An object that is notified of each change of a context, on the thread that makes it.
protocol ContextObserver: AnyObject {
    func contextDidChange()
}

// An observer can be notified on any thread.
struct WeakContextObserver: @unchecked Sendable {
    weak var observer: (any ContextObserver)?
}

extension ContextStorage {
    /// Notifies the observers of a change.
    func noteObservers() {
        guard !observers.isEmpty else { return }
        observers.removeAll { $0.observer == nil }
        for one in observers { one.observer?.contextDidChange() }
    }
}

// MARK: - Creating an observer

extension ResultsObserver where SectionTitle == Never {
    /// Observes the models that a descriptor matches.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, nil, modelContext) }

    /// Observes the models that a descriptor matches, in a context of its own.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, nil, ModelContext(modelContainer)) }

    /// Observes the models that a predicate matches.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, modelContext) }

    /// Observes the models that a predicate matches, in a context of its own.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, ModelContext(modelContainer))
    }
}

extension ResultsObserver where SectionTitle == String {
    /// Observes the models that a descriptor matches, in sections by a string.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), sectionBy: KeyPath<Element, String>,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Sections(sectionBy), modelContext) }

    /// Observes the models that a descriptor matches, in sections by an optional string; the title is empty for nil.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), sectionBy: KeyPath<Element, String?>,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Sections(sectionBy), modelContext) }

    /// Observes the models that a descriptor matches, in sections by a string, in a context of its own.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), sectionBy: KeyPath<Element, String>,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Sections(sectionBy), ModelContext(modelContainer)) }

    /// Observes the models that a descriptor matches, in sections by an optional string, in a context of its own.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), sectionBy: KeyPath<Element, String?>,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws { try self.init(fetchDescriptor, Sections(sectionBy), ModelContext(modelContainer)) }

    /// Observes the models that a predicate matches, in sections by a string.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Sections(sectionBy), modelContext)
    }

    /// Observes the models that a predicate matches, in sections by an optional string.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Sections(sectionBy), modelContext)
    }

    /// Observes the models that a predicate matches, in sections by a string, in a context of its own.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Sections(sectionBy),
            ModelContext(modelContainer))
    }

    /// Observes the models that a predicate matches, in sections by an optional string, in a context of its own.
    ///
    /// - Throws: what ``ModelContext/fetch(_:)`` throws.
    public convenience init(
        filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), Sections(sectionBy),
            ModelContext(modelContainer))
    }
}

extension ResultsObserver.Sections where SectionTitle == String {
    init(_ path: KeyPath<Element, String>) {
        keyPath = path
        sortBy = [SortDescriptor(path.sendable)]
        title = { $0[keyPath: path] }
    }

    init(_ path: KeyPath<Element, String?>) {
        keyPath = path
        sortBy = [SortDescriptor(path.sendable)]
        title = { $0[keyPath: path] ?? "" }
    }
}

/// The models of an observer in sections, ordered by the first appearance of their titles.
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection {
    private let sections: [ResultsSection<Element, SectionTitle>]
    private let places: [SectionTitle: Int]

    /// Groups the models by title, keeping the order of models with the same title.
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
    /// The section at a valid index.
    public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }
    /// The section with a title; nil if there is none.
    public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
        places[title].map { sections[$0] }
    }
    /// The titles of the sections, in order.
    public var sectionTitles: [SectionTitle] { sections.map(\.title) }
}

/// The models of one section, in order.
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Identifiable {
    /// The value that the models of the section share, from the property that determines the sections.
    public let title: SectionTitle
    fileprivate(set) var elements: [Element] = []

    init(title: SectionTitle) { self.title = title }

    /// The title.
    public var id: SectionTitle { title }
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of models in the section.
    public var endIndex: Int { elements.count }
    /// The model at a valid index.
    public subscript(position: Int) -> Element { elements[position] }
}
