import MoultBasics
import MoultModel

// A property of the public API cannot throw: for a value that cannot be read, it shows an empty one. What an app makes
// of that must not replace the value in the store.

/// A property whose value could not be read, and for which the app got an empty value.
struct FailedRead {
    let object: Object
    /// The attribute, composite or not, or the relationship.
    let name: String
    let error: MigrationError
    /// Whether a save, or a call that sets the property, has thrown the error.
    var isThrown = false
}

extension Object {
    /// Records that the app got an empty value for a property that could not be read, or that a change of it failed for
    /// that reason.
    ///
    /// From then on, saves throw the error, and the property cannot be set: an app may have made the new value of the
    /// empty one. This ends when the changes are discarded, or when the property is read after the error was thrown.
    ///
    /// - Parameters:
    ///   - path: the name of the property, or the path of an element of a composite attribute.
    ///   - isFailure: whether the error counts whatever its code is.
    /// - Returns: false, without recording it, for an error that is about the object or the value itself.
    package func noteFailedRead(_ path: String, _ error: MigrationError, isFailure: Bool = false) -> Bool {
        kind.lock.withLock {
            guard let context = kind.context, !state.contains(.detached) else { return false }
            let name = Self.propertyName(path)
            if let place = context.failedRead(of: self, name) {
                context.failedReads[place].isThrown = false
                return true
            }
            guard isFailure || error.isOfReading, shape.position(of: name) != nil || shape.isComposite(name) else {
                return false
            }
            var error = error
            error.message = "\(entityName).\(name) of \(identity) could not be read. \(error.message)"
            error.advice =
                "Nothing was saved. \(error.advice) Read it again, or roll back; then make the changes again."
            context.failedReads.append(FailedRead(object: self, name: name, error: error))
            state.insert(.hasFailedReads)
            return true
        }
    }

    /// Whether the app got an empty value for a property.
    package func hasFailedRead(_ path: String) -> Bool {
        kind.lock.withLock { kind.context?.failedRead(of: self, Self.propertyName(path)) != nil }
    }

    /// Notes that the app has read a value.
    func noteRead(_ position: Int) {
        guard state.contains(.hasFailedReads) else { return }
        let name = propertyName(position)
        kind.context?.forgetFailedReads { $0.object === self && $0.name == name && $0.isThrown }
    }

    /// - Throws: the error of a read for which the app got an empty value. Where the app is not told of it,
    ///   ``noteFailedRead(_:_:isFailure:)`` follows.
    func refuseUnread(_ position: Int) throws {
        guard state.contains(.hasFailedReads), let context = kind.context,
            let place = context.failedRead(of: self, propertyName(position))
        else { return }
        context.failedReads[place].isThrown = true
        throw context.failedReads[place].error
    }

    private func propertyName(_ position: Int) -> String { Self.propertyName(shape.properties[position].name) }

    /// Returns the name of a property; of an element, that of its composite attribute.
    private static func propertyName(_ path: String) -> String { String(path.prefix { $0 != "." }) }
}

extension ObjectContext {
    /// Whether the next save throws because a value could not be read.
    package var hasFailedReads: Bool {
        lock.withLock { failedReads.contains { !$0.object.state.contains(.detached) } }
    }

    /// - Throws: the first error of a read for which the app got an empty value.
    func throwFailedReads() throws {
        forgetFailedReads { $0.object.state.contains(.detached) }
        guard let first = failedReads.first else { return }
        for place in failedReads.indices { failedReads[place].isThrown = true }
        throw first.error
    }

    func forgetFailedReads(where isOver: (FailedRead) -> Bool) {
        guard !failedReads.isEmpty else { return }
        for failed in failedReads { failed.object.state.remove(.hasFailedReads) }
        failedReads.removeAll(where: isOver)
        for failed in failedReads { failed.object.state.insert(.hasFailedReads) }
    }

    /// Returns the place of a failed read in the list; nil if the read has not failed.
    fileprivate func failedRead(of object: Object, _ name: String) -> Int? {
        guard object.state.contains(.hasFailedReads) else { return nil }
        return failedReads.firstIndex { $0.object === object && $0.name == name }
    }
}

extension MigrationError {
    /// Whether a value could not be read, as opposed to one that is not there, does not fit or may not be set.
    fileprivate var isOfReading: Bool {
        let others: [Code] = [
            .objectGone, .unknownKey, .usage, .dataConflict, .wrongType, .externalRelationship, .modelInvalid,
            .internal,
        ]
        return !others.contains(code)
    }
}
