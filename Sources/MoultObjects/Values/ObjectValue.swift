import MoultModel

/// The value of a property of an object. Its destinations may be temporary objects.
package enum ObjectValue: Sendable, Hashable {
    /// The value of an attribute; nil for no value.
    case attribute(AttributeValue?)
    case toOne(ObjectID?)
    /// The destinations, in order if the relationship is ordered, otherwise by key.
    case toMany([ObjectID])

    var isAttribute: Bool { if case .attribute = self { true } else { false } }
    var isNaN: Bool {
        switch self {
        case .attribute(.double(let value)), .attribute(.date(let value)): value.isNaN
        default: false
        }
    }

    /// A phrase for the kind of value; messages never contain the value itself.
    var kindPhrase: String {
        switch self {
        case .attribute(let value): value?.kindPhrase ?? "no value"
        case .toOne: "an object"
        case .toMany: "a list of objects"
        }
    }
}

/// The values of one object, one for each property of its ``EntityShape``: its row with the values set since, or a list
/// if there is no row yet.
package struct PositionedValues: Sendable, RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral {
    private var form: Form

    private enum Form {
        case row(StoredRow)
        case changed(ChangedRow)
        case list([ObjectValue?])
    }

    /// A row with the values set since, which take precedence over the row's own.
    private final class ChangedRow: @unchecked Sendable {
        // `Sendable` is safe, because only a sole owner changes it.
        let row: StoredRow
        @exclusivity(unchecked) private(set) var changes: [Change]

        init(_ row: StoredRow, _ changes: [Change] = []) {
            self.row = row
            self.changes = changes
        }

        func change(at position: Int) -> Change? { changes.first { $0.position == position } }

        func set(_ value: ObjectValue?, at position: Int) {
            if let place = changes.firstIndex(where: { $0.position == position }) {
                changes[place].value = value
            } else {
                if changes.isEmpty { changes.reserveCapacity(2) }
                changes.append(Change(position: position, value: value))
            }
        }
    }

    private struct Change {
        let position: Int
        var value: ObjectValue?
    }

    /// The presence of a value, known without decoding it.
    package enum Presence {
        /// There is no value, for one of the reasons in ``ObjectSnapshot/values``.
        case missing
        /// NULL, or no destination.
        case empty
        /// A value, or a list of a to-many relationship, even an empty one.
        case present
        /// A decimal that the row stores as a number, with no more digits than a `Decimal` has.
        case decimal
    }

    init(_ row: StoredRow) { form = .row(row) }
    package init(_ values: [ObjectValue?]) { form = .list(values) }
    package init(arrayLiteral values: ObjectValue?...) { form = .list(values) }

    package var startIndex: Int { 0 }
    package var endIndex: Int {
        switch form {
        case .row(let row): row.count
        case .changed(let changed): changed.row.count
        case .list(let list): list.count
        }
    }

    package subscript(position: Int) -> ObjectValue? {
        get {
            switch form {
            case .row(let row): return row[position]
            case .changed(let changed):
                if let change = changed.change(at: position) { return change.value }
                return changed.row[position]
            case .list(let list): return list[position]
            }
        }
        set {
            let form = form
            // The list then has no other owner and is not copied.
            self.form = .list([])
            switch consume form {
            case .row(let row):
                let changed = ChangedRow(row)
                changed.set(newValue, at: position)
                self.form = .changed(changed)
            case .changed(var changed):
                if !isKnownUniquelyReferenced(&changed) { changed = ChangedRow(changed.row, changed.changes) }
                changed.set(newValue, at: position)
                self.form = .changed(changed)
            case .list(var list):
                list[position] = newValue
                self.form = .list(list)
            }
        }
    }

    /// The values as a list.
    package var list: [ObjectValue?] {
        if case .list(let list) = form { return list }
        return Array(self)
    }

    package func presence(at position: Int) -> Presence {
        if let row = untouchedRow(at: position) { return row.presence(at: position) }
        switch self[position] {
        case nil: return .missing
        case .attribute(nil)?, .toOne(nil)?: return .empty
        case .attribute?, .toOne?, .toMany?: return .present
        }
    }

    /// Returns the positions, ascending, at which values that share a row may differ; nil if they share none.
    func positionsSet(over other: Self) -> [Int]? {
        switch (form, other.form) {
        case (.row(let row), .row(let base)) where row.isSame(as: base): []
        case (.changed(let changed), .row(let base)) where changed.row.isSame(as: base):
            changed.changes.map(\.position).sorted()
        case (.changed(let changed), .changed(let base)) where changed.row.isSame(as: base.row):
            Set((changed.changes + base.changes).map(\.position)).sorted()
        default: nil
        }
    }

    /// Whether both have the value of the same row at this position, known without decoding it.
    func shares(_ position: Int, with other: Self) -> Bool {
        guard let row = untouchedRow(at: position), let others = other.untouchedRow(at: position) else { return false }
        return row.isSame(as: others)
    }

    private func untouchedRow(at position: Int) -> StoredRow? {
        switch form {
        case .row(let row): row
        case .changed(let changed): changed.change(at: position) == nil ? changed.row : nil
        case .list: nil
        }
    }
}

extension PositionedValues: Hashable {
    package static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }
    package func hash(into hasher: inout Hasher) {
        for value in self { hasher.combine(value) }
    }
}

/// The state of one object in its store at one moment: `NSIncrementalStoreNode`.
package struct ObjectSnapshot: Sendable, Hashable {
    package let id: ObjectID
    /// The `Z_OPT`: 1 for a new object, and one more for each save.
    package let version: Int64
    /// One for each property of the object's ``EntityShape``; nil for a to-many relationship, which is read separately,
    /// for a transient property, and for a stored value that does not fit the declared type.
    package let values: PositionedValues

    package init(id: ObjectID, version: Int64, values: PositionedValues) {
        (self.id, self.version, self.values) = (id, version, values)
    }
}
