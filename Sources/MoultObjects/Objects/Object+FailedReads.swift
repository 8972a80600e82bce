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
    /// Whether a save has thrown the error.
    var isThrown = false
}

extension Object {
    /// Records that the app got an empty value for a property that could not be read, or that a change of it failed for
    /// that reason.
    ///
    /// From then on, saves throw the error, and the property cannot be set: an app may have made the new value of the
    /// empty one. This ends when the changes are discarded, or when the property is read after a save has thrown.
    ///
    /// - Parameter isFailure: whether the error counts whatever its code is.
    /// - Returns: false, without recording it, for an error that is about the object or the value itself.
    package func noteFailedRead(_ name: String, _ error: MigrationError, isFailure: Bool = false) -> Bool {
        kind.lock.withLock {
            guard let context = kind.context, !state.contains(.detached) else { return false }
            if context.renewFailedRead(of: self, name) != nil { return true }
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
    package func hasFailedRead(_ name: String) -> Bool {
        kind.lock.withLock {
            guard state.contains(.hasFailedReads) else { return false }
            return kind.context?.failedReads.contains { $0.object === self && $0.name == name } ?? false
        }
    }

    /// Notes that the app has read a value.
    func noteRead(_ position: Int) {
        guard state.contains(.hasFailedReads) else { return }
        let name = propertyName(position)
        kind.context?.forgetFailedReads { $0.object === self && $0.name == name && $0.isThrown }
    }

    /// - Throws: the error of a read for which the app got an empty value.
    func refuseUnread(_ position: Int) throws {
        guard state.contains(.hasFailedReads),
            let error = kind.context?.renewFailedRead(of: self, propertyName(position))
        else { return }
        throw error
    }

    /// Returns the name of a property; of an element, that of its composite attribute.
    private func propertyName(_ position: Int) -> String {
        String(shape.properties[position].name.prefix { $0 != "." })
    }
}

extension ObjectContext {
    /// Whether the next save throws because a value could not be read.
    package var hasFailedReads: Bool { lock.withLock { !failedReads.isEmpty } }

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

    /// Makes a later save throw the error of a failed read again; returns nil if the read has not failed.
    fileprivate func renewFailedRead(of object: Object, _ name: String) -> MigrationError? {
        guard let place = failedReads.firstIndex(where: { $0.object === object && $0.name == name }) else { return nil }
        failedReads[place].isThrown = false
        return failedReads[place].error
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
