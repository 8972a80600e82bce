import MoultBasics
import MoultModel
import TestSupport

/// The rows of persistent history that one save added, beside what it changed in the tables.
struct HistoryCheck {
    let model: ManagedObjectModel
    let before: StoreContents
    let after: StoreContents
    let difference: StoreDifference

    private func added(_ table: String) -> [(key: Int, row: StoreContents.Row)] {
        let old = before.tables[table] ?? [:]
        return (after.tables[table] ?? [:]).filter { old[$0.key] == nil }.sorted { $0.key < $1.key }
            .map { (key: $0.key, row: $0.value) }
    }

    var changes: [(key: Int, row: StoreContents.Row)] { added("ACHANGE") }

    func faults(author: String?) -> [String] {
        transactionFaults(author: author) + stringFaults() + changeFaults() + counterFaults()
    }

    // MARK: - One transaction

    /// As Core Data leaves it in the corpus: no version, no texts beside the numbers of strings, no query generation.
    private func transactionFaults(author: String?) -> [String] {
        let transactions = added("ATRANSACTION")
        guard let (key, row) = transactions.first, transactions.count == 1 else {
            return ["\(transactions.count) transactions for one save"]
        }
        var faults: [String] = []
        if key != (before.tables["ATRANSACTION"]?.keys.max() ?? 0) + 1 { faults.append("transaction \(key)") }
        if row["Z_ENT"] != "16002" { faults.append("transaction of entity \(row["Z_ENT"] ?? "")") }
        for column in ["Z_OPT", "ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID", "ZQUERYGEN"]
        where row[column] != "NULL" {
            faults.append("transaction has \(column) \(row[column] ?? "")")
        }
        let strings = after.tables["ATRANSACTIONSTRING"] ?? [:]
        func string(_ column: String) -> String? { row[column].flatMap { Int($0) }.flatMap { strings[$0]?["ZNAME"] } }
        if string("ZAUTHORTS") != author.map({ "'\($0)'" }) { faults.append("author \(string("ZAUTHORTS") ?? "none")") }
        if string("ZPROCESSIDTS") == nil { faults.append("no name of the process") }
        if Double(row["ZTIMESTAMP"] ?? "") == nil { faults.append("time \(row["ZTIMESTAMP"] ?? "")") }
        for (_, change) in changes where change["ZTRANSACTIONID"] != String(key) {
            faults.append("change of transaction \(change["ZTRANSACTIONID"] ?? "")")
        }
        return faults
    }

    private func stringFaults() -> [String] {
        let strings = (after.tables["ATRANSACTIONSTRING"] ?? [:]).values
        let names = strings.compactMap { $0["ZNAME"] }
        return (Set(names).count == names.count ? [] : ["a string is there twice"])
            + strings.filter { $0["Z_ENT"] != "16003" || $0["Z_OPT"] != "NULL" }.map { "string \($0)" }
    }

    /// Each of the three tables has its counter.
    private func counterFaults() -> [String] {
        [(16_001, "ACHANGE"), (16_002, "ATRANSACTION"), (16_003, "ATRANSACTIONSTRING")].compactMap { number, table in
            let most = after.tables[table]?.keys.max() ?? 0
            let counter = after.primaryKeys[number]?["Z_MAX"] ?? "none"
            return counter == String(most) ? nil : "Z_MAX of \(table) is \(counter), not \(most)"
        }
    }

    // MARK: - Its changes

    private struct Event: Hashable {
        var kind: String
        var entity: String
        var key: Int
    }

    /// One for each object inserted, updated or deleted, with the columns that an update changed.
    private func changeFaults() -> [String] {
        var faults: [String] = []
        var expected: [Event: StoreDifference.Change] = [:]
        for (kind, changes) in [("0", difference.inserted), ("1", difference.updated), ("2", difference.deleted)] {
            for change in changes {
                if kind == "1", change.before?["Z_OPT"] == change.after?["Z_OPT"] { continue }
                let entity = (change.after ?? change.before)?["Z_ENT"] ?? ""
                expected[Event(kind: kind, entity: entity, key: change.key)] = change
            }
        }
        for (_, row) in changes {
            let event = Event(
                kind: row["ZCHANGETYPE"] ?? "", entity: row["ZENTITY"] ?? "", key: Int(row["ZENTITYPK"] ?? "") ?? 0)
            guard let change = expected.removeValue(forKey: event) else {
                faults.append("a change that is none, or is told twice: \(event)")
                continue
            }
            if row["Z_ENT"] != "16001" || row["Z_OPT"] != "NULL" { faults.append("change of entity \(row)") }
            faults += columnFaults(row["ZCOLUMNS"] ?? "", event, change)
        }
        return faults + expected.keys.map { "nothing is told of \($0)" }
    }

    private func columnFaults(_ columns: String, _ event: Event, _ change: StoreDifference.Change) -> [String] {
        guard event.kind == "1" else { return columns == "NULL" ? [] : ["columns \(columns) of no update"] }
        guard
            let name = after.primaryKeys[Int(event.entity) ?? 0]?["Z_NAME"]?.dropFirst().dropLast(),
            let entity = model.entity(String(name)), let bits = Bits(columns)
        else { return ["columns \(columns)"] }
        let slots = Slots(entity, in: model)
        guard bits.byteCount == (slots.count + 7) / 8 else {
            return ["\(bits.byteCount) bytes of columns for \(slots.count) slots of \(entity.name)"]
        }
        let told = Set(slots.columns.enumerated().filter { bits[$0.offset] }.map(\.element))
        let changed = change.columns.filter { slots.columns.contains($0) }
        let derived = Set(
            model.attributes(of: entity).filter { $0.derivation != nil }.map { "Z" + $0.name.uppercased() })
        return told.subtracting(derived) == changed.subtracting(derived)
            ? [] : ["\(entity.name) \(event.key): columns told \(told.sorted()), changed \(changed.sorted())"]
    }

    /// A blob literal's bits, the most significant first.
    private struct Bits {
        private let bytes: [UInt8]
        var byteCount: Int { bytes.count }

        init?(_ literal: String) {
            guard literal.hasPrefix("X'"), literal.hasSuffix("'") else { return nil }
            let digits = Array(literal.dropFirst(2).dropLast())
            bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
        }

        subscript(place: Int) -> Bool { bytes[place / 8] & (0x80 >> UInt8(place % 8)) != 0 }
    }

    /// The slots of an entity: inherited levels first inside each group, then by name.
    private struct Slots {
        /// The column that each slot but those of to-many relationships stands for.
        private(set) var columns: [String] = []
        private(set) var count = 0

        init(_ entity: EntityDescription, in model: ManagedObjectModel) {
            let levels = (model.superentities(of: entity) + [entity]).sorted {
                model.superentities(of: $0).count < model.superentities(of: $1).count
            }
            let numbers = try? StoreNumbers(model)
            let toOne = levels.flatMap { $0.relationships.filter { !$0.isToMany && !$0.isTransient } }
            columns = toOne.map { "Z" + $0.name.uppercased() }
            for relationship in toOne {
                guard let destination = model.entity(relationship.destinationEntityName),
                    !model.descendants(of: destination).isEmpty
                else { continue }
                columns.append("Z\(numbers?[destination.name] ?? 0)_\(relationship.name.uppercased())")
            }
            for relationship in toOne where model.inverse(of: relationship).map({ $0.isToMany && $0.isOrdered }) == true
            {
                columns.append("Z_FOK_" + relationship.name.uppercased())
            }
            // A composite attribute has a slot for each leaf: real updates of an enum of four cases have one byte more
            // than one slot would need.
            func names(_ attribute: AttributeDescription) -> [String] {
                attribute.type == .composite ? attribute.elements.flatMap(names) : ["Z" + attribute.name.uppercased()]
            }
            columns += levels.flatMap { $0.attributes.filter(\.isStored) }.flatMap(names)
            let toMany = levels.flatMap { $0.relationships.filter { $0.isToMany && !$0.isTransient } }
            count = columns.count + toMany.count
        }
    }

    /// Entity numbers: depth first, by name without case.
    private struct StoreNumbers {
        private var numbers: [String: Int] = [:]
        subscript(name: String) -> Int? { numbers[name] }

        init(_ model: ManagedObjectModel) throws {
            func sorted(_ entities: [EntityDescription]) -> [EntityDescription] {
                entities.sorted { $0.name.lowercased() < $1.name.lowercased() }
            }
            var waiting = Array(sorted(model.entities.filter { $0.superentityName == nil }).reversed())
            while let next = waiting.popLast() {
                numbers[next.name] = numbers.count + 1
                waiting += sorted(model.entities.filter { $0.superentityName == next.name }).reversed()
            }
        }
    }
}
