import MoultModel
import MoultObjects
import MoultStore

/// A store that several processes write into at the same time, and what each of them does.
///
/// A journal has entries in an order, and a count of how often anybody raised it.
package enum SharedJournal {
    package static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Journal = count Integer64, entries >> Entry.journal ordered
            Entry = ref String, journal > Journal.entries
            Footnote (Entry)
            """)
    }

    /// A store with one journal.
    package static func make(at path: String, history: Bool) throws {
        try StoreCreator(ModelVersion(names: ["1"], model: model()), history: history).make(at: path)
        let context = try open(path)
        try context.insert("Journal").setAttribute("count", .integer(0))
        try context.save()
        for store in context.coordinator.stores { store.close() }
    }

    private static func open(_ path: String) throws -> ObjectContext {
        let model = try model()
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(path, model: model, busyTimeout: 60_000))
        return ObjectContext(coordinator: coordinator)
    }

    /// Saves so many times; each save adds a footnote, an entry at the end of the journal, and one to its count.
    ///
    /// A save that meets another's is made again over what the store holds then.
    /// - Parameters:
    ///   - writer: what the texts of its entries begin with.
    ///   - acknowledged: told the text and key of each new object, after the save that wrote it.
    package static func write(
        _ writer: String, times: Int, to path: String, acknowledged: (_ ref: String, _ key: Int64) -> Void
    ) throws {
        let context = try open(path)
        defer { for store in context.coordinator.stores { store.close() } }
        guard let journal = try context.fetch(ObjectFetch(entityName: "Journal")).first else { return }
        for time in 0..<times {
            while true {
                let footnote = try context.insert("Footnote")
                try footnote.setAttribute("ref", .string("\(writer)-footnote-\(time)"))
                let entry = try context.insert("Entry")
                try entry.setAttribute("ref", .string("\(writer)-entry-\(time)"))
                try journal.add(entry, to: "entries")
                guard case .integer(let count)? = try journal.attribute("count") else { return }
                try journal.setAttribute("count", .integer(count + 1))
                do {
                    try context.save()
                    for object in [footnote, entry] {
                        guard case .string(let ref)? = try object.attribute("ref") else { return }
                        acknowledged(ref, object.id.key)
                    }
                    break
                } catch is MergeConflictError {
                    context.rollback()
                    try context.refreshAll()
                }
            }
        }
    }
}
