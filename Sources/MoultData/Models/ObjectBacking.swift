import MoultBasics
import MoultModel
import MoultObjects

/// The values of a model in a context, read from and written to the context's object.
///
/// Reading a value returns what the object holds now. For an object that has left its context, because it was deleted
/// and saved or was rolled back before its first save, reading returns the last known value.
final class ObjectBacking: BackingData {
    let object: Object
    let graph: ContextStorage
    /// The context keeps a changed model alive as long as this equals ``ContextStorage/releases``.
    private var keptSince = -1
    /// The last to-one destinations of an object that was never saved: the required ones, or all of them once it is
    /// rolled back.
    var lastDestinations: [String: any PersistentModel] = [:]
    /// The main model of the object, if this backing belongs to another model: one that was inserted with the same
    /// unique values.
    private let first: (any PersistentModel)?
    /// The other models of the object, kept by the backing of its main model.
    private var others: [WeakReference<AnyObject>] = []

    init(_ object: Object, _ graph: ContextStorage, next first: (any PersistentModel)? = nil) {
        (self.object, self.graph, self.first) = (object, graph, first)
    }

    /// Makes a model show the same object as another one.
    static func show(_ model: any PersistentModel, next first: any PersistentModel) {
        guard model !== first, let backing = first.persistentBackingData as? ObjectBacking else { return }
        model.persistentBackingData = ObjectBacking(backing.object, backing.graph, next: first)
        backing.others = backing.others.filter { $0.object != nil } + [WeakReference(model as AnyObject)]
    }

    /// All models of the object, the main one first.
    var models: [any PersistentModel] {
        guard let main = first ?? (object.publicObject as? any PersistentModel) else { return [] }
        guard let backing = main.persistentBackingData as? ObjectBacking, !backing.others.isEmpty else { return [main] }
        return [main] + backing.others.compactMap { $0.object as? any PersistentModel }
    }

    var persistentModelID: PersistentIdentifier {
        let id = object.id
        if id.isTemporary, graph.identities[id] == nil { graph.identities[id] = .unsaved(WeakReference(object)) }
        return PersistentIdentifier(id)
    }

    // MARK: - Reading

    func attribute(_ key: String) -> AttributeValue? {
        do {
            return try object.attribute(key)
        } catch {
            note(error, key)
            // The row is gone, or the context's stores are no longer open.
            if case .attribute(let value)? = object.lastValue(key) { return value }
            return nil
        }
    }

    func toOne(_ key: String) -> (any PersistentModel)? {
        do {
            if let found = try object.toOne(key) {
                if let model = try graph.shown(found) { return model }
                noteUnshowable(found, key)
                return nil
            }
            return try lostDestination(key)
        } catch {
            note(error, key)
            if let model = lastDestinations[key] { return model }
            guard case .toOne(let id?)? = object.lastValue(key) else { return nil }
            return try? graph.model(for: graph.objects.object(with: id))
        }
    }

    /// Returns the last destination of a required relationship whose destination was deleted. A save would refuse the
    /// NULL, but until then the property must return a value.
    private func lostDestination(_ key: String) throws -> (any PersistentModel)? {
        let binding = try graph.binding(object.entityName)
        guard binding.requiredNames.contains(key) else { return nil }
        if let model = lastDestinations[key] { return model }
        guard case .toOne(let id?)? = try object.committedValues([key])[key] else { return nil }
        return try graph.model(for: graph.objects.object(with: id))
    }

    func toMany(_ key: String) -> [any PersistentModel]? {
        do {
            let found = try object.toMany(key)
            if graph.stack.hasStandIns { return try found.map(graph.model) }
            return try found.compactMap { object in
                if let model = try graph.shown(object) { return model }
                noteUnshowable(object, key)
                return nil
            }
        } catch {
            note(error, key)
            guard case .toMany(let ids)? = object.lastValue(key) else { return [] }
            return ids.compactMap { id in
                graph.objects.registeredObject(for: id).flatMap { try? graph.model(for: $0) }
            }
        }
    }

    // MARK: - Unreadable values

    func _noteUnreadable(_ key: String) {
        // A deleted object has no known values, and the save validates a new one.
        guard paths(key).contains(where: { object.lastValue($0) != nil }), !object.isInserted else { return }
        noteUnreadable(key)
    }

    /// Returns the columns of a property.
    private func paths(_ key: String) -> [String] {
        let binding = try? graph.binding(object.entityName)
        return binding?.type.schemaMetadata.propertiesByName[key]?.paths ?? [key]
    }

    func _initialValue(_ key: String) -> Any? {
        let binding = try? graph.binding(object.entityName)
        return binding?.type.schemaMetadata.propertiesByName[key]?.initialValue?()
    }

    /// Records why a value could not be read, unless its object is gone.
    private func note(_ error: any Error, _ path: String) {
        let key = String(path.prefix { $0 != "." })
        guard !object.isDetached else { return }
        let known = error as? MigrationError ?? (error as? SwiftDataError)?.underlyingError
        let error = known ?? MigrationError(.internal, "\(error)", place: key, remedy: "Report it.")
        if error.code == .objectGone { return }
        if error.code == .dataConflict { return noteUnreadable(key) }
        if object.noteFailedRead(key, error, isFailure: true) { keep() } else { refuse(key, error) }
    }

    /// Records a destination that cannot be shown and is left out, because a save would take the omission for a change.
    private func noteUnshowable(_ destination: Object, _ key: String) {
        guard graph.refusals[ObjectIdentifier(object)]?[key] == nil else { return }
        refuse(key, .unshowable(destination))
    }

    /// Whether a destination could not be shown. Until a rollback the relationship cannot be set either: what an app
    /// sets may be made of what it was shown, and the destination would lose its link.
    private func isShownInPart(_ key: String, isToMany: Bool) -> Bool {
        guard graph.refusals[ObjectIdentifier(object)]?[key]?.code == .dataConflict else { return false }
        return isToMany || (try? object.toOneID(key)) != nil
    }

    func noteUnreadable(_ key: String) {
        guard object.isChangeable, !object.hasFailedRead(key),
            graph.refusals[ObjectIdentifier(object)]?[key] == nil
        else { return }
        refuse(key, .unreadable(key, of: object, graph))
    }

    // MARK: - Writing

    func setAttribute(_ key: String, _ value: AttributeValue?) {
        change(key) { try object.setAttribute(key, value, touches: true) }
    }

    func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)]) {
        change(key) { for (path, value) in values { try object.setAttribute(path, value, touches: true) } }
    }

    func setToOne(_ key: String, _ model: (any PersistentModel)?) {
        if isShownInPart(key, isToMany: false) { return }
        change(key) { try object.setToOne(key, try model.map(graph.object), touches: true) }
    }

    func setToMany(_ key: String, _ models: [any PersistentModel]?) {
        if isShownInPart(key, isToMany: true) { return }
        change(key) { try object.setToMany(key, try (models ?? []).map(graph.object), touches: true) }
    }

    func refuse(_ key: String, _ error: MigrationError) {
        defer { keep() }
        if object.noteFailedRead(key, error) { return }
        graph.refusals[ObjectIdentifier(object), default: [:]][key] = error
    }

    /// Runs a change of the object. Does nothing if the object is deleted or has left its context.
    private func change(_ key: String, _ body: () throws -> Void) {
        do {
            guard try object.changing(body) else { return }
            if !graph.refusals.isEmpty { graph.refusals[ObjectIdentifier(object)]?[key] = nil }
            keep()
            noteOthers(key)
            graph.noteObservers()
        } catch let error as MigrationError {
            refuse(key, error)
        } catch {
            refuse(key, MigrationError(.internal, "\(error)", place: key, remedy: "Report it."))
        }
    }

    /// Notifies observers of the object's other models of a change.
    private func noteOthers(_ key: String) {
        guard first != nil || !others.isEmpty, let binding = try? graph.binding(object.entityName) else { return }
        for property in binding.distinctProperties where property.name == key || property.paths.contains(key) {
            for model in models where model.persistentBackingData as? ObjectBacking !== self {
                property.noteChange(model)
            }
        }
    }

    /// Makes the context keep the model until the next save, because its transient properties exist only there.
    func keep() {
        guard keptSince != graph.releases, let model = object.publicObject else { return }
        keptSince = graph.releases
        graph.context?.keep(model)
    }

    // MARK: - State

    var _context: AnyObject? { object.isDetached ? nil : graph.context }
    var hasChanges: Bool { object.hasChanges }
    var isDeleted: Bool { object.isDeleted }
}
