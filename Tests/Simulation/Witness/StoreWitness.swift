import Foundation
import MoultBasics
import MoultModel
import TestSupport

/// Objects by entity and key, their properties as text: `i:5`, `s:<UTF-8 in hexadecimal>`, `x:05*110000`, `o:Entity/1`,
/// `-` for none.
typealias WitnessedObjects = [String: [Int: [String: String]]]

/// A store as the letter of its format reads it: `Z_PRIMARYKEY`, the entity tables, the join tables
/// (Documentation/Formats/Store.md). It shares no code with Moult; it is told the model, and finds columns by name.
struct StoreWitness {
    private(set) var objects: WitnessedObjects = [:]
    /// The highest key of each root entity, by `Z_PRIMARYKEY`.
    private(set) var highest: [String: Int] = [:]
    /// What of the format's laws the store breaks.
    private(set) var complaints: [String] = []
    /// The transactions of its persistent history, oldest first; nil where it keeps none.
    private(set) var history: [Transaction]?
    /// The number of the last transaction that was given, by `Z_PRIMARYKEY`; nil where it does not say.
    private(set) var lastTransaction: Int?
    /// The files of external data that rows name.
    private(set) var namedFiles: Set<String> = []

    struct Transaction: Equatable {
        let number: Int
        let time: Double
    }

    private let file: SQLiteFile
    private let model: HistoryModel
    private let support: String
    private var numbers: [String: Int64] = [:]
    private var names: [Int64: String] = [:]
    private var columns: [String: String] = [:]
    private var tables: [String: [[String: SQLiteFile.Value]]] = [:]
    private var joins: Set<String> = []
    /// The name of the entity of each row, by table and key.
    private var kinds: [String: [Int64: String]] = [:]

    /// - Parameters:
    ///   - copy: the file of a copy, which SQLite may recover.
    ///   - support: the folder of the store's external data.
    init(_ copy: String, _ model: HistoryModel, support: String) throws {
        (self.model, self.support) = (model, support)
        file = try SQLiteFile(copy)
        defer { file.close() }
        let check = try file.rows("PRAGMA integrity_check").compactMap { $0[0].text }
        if check != ["ok"] { complaints.append("integrity: \(check.prefix(3).joined(separator: "; "))") }
        try readNumbers()
        for root in model.entities where root.parent == nil { try readTable(root) }
        for entity in model.entities where !entity.isAbstract { try readObjects(entity) }
        try checkHistory()
        tables = [:]
    }

    /// The version hashes of a store's metadata, by entity.
    static func hashes(_ copy: String) throws -> [String: [UInt8]] {
        let file = try SQLiteFile(copy)
        defer { file.close() }
        let rows = try file.table("Z_METADATA")
        // The names of the columns are Core Data's, letter by letter.
        for name in ["Z_VERSION", "Z_UUID", "Z_PLIST"] where rows.contains(where: { $0[name] == nil }) {
            throw WitnessFailure("the metadata has no \(name)")
        }
        guard rows.count == 1, let list = rows[0]["Z_PLIST"]?.blob,
            let plist = try PropertyListSerialization.propertyList(from: Data(list), format: nil) as? [String: Any],
            let hashes = plist["NSStoreModelVersionHashes"] as? [String: Data]
        else { throw WitnessFailure("the metadata has no version hashes") }
        return hashes.mapValues { [UInt8]($0) }
    }

    private mutating func readNumbers() throws {
        for row in try file.table("Z_PRIMARYKEY") {
            guard let number = row["Z_ENT"]?.integer, let name = row["Z_NAME"]?.text else { continue }
            (numbers[name], names[number]) = (number, name)
            if row["Z_SUPER"]?.integer == 0, number < 16_001 { highest[name] = Int(row["Z_MAX"]?.integer ?? -1) }
            if name == "TRANSACTION", number > 16_000 { lastTransaction = row["Z_MAX"]?.integer.map(Int.init) }
        }
        for entity in model.entities {
            guard numbers[entity.name] != nil else { throw WitnessFailure("\(entity.name) has no number") }
            let parent = model.entity(entity.parent).flatMap { numbers[$0.name] } ?? 0
            let row = try file.rows(
                "SELECT Z_SUPER FROM Z_PRIMARYKEY WHERE Z_NAME = ?", [.text(Array(entity.name.utf8))])
            if row.first?[0].integer != parent { complaints.append("\(entity.name) has another parent") }
        }
        joins = Set(
            try file.rows("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap { $0[0].text }
                .filter { $0.hasPrefix("Z_") })
    }

    private func table(of id: Int) -> String { "Z" + (model.entity(model.root(of: id))?.name.uppercased() ?? "") }

    /// Names the columns of a tree of entities, and reads its rows.
    private mutating func readTable(_ root: HistoryModel.Entity) throws {
        var taken: Set<String> = []
        func claim(_ name: String) -> String {
            var (candidate, suffix) = ("Z" + name.uppercased(), 0)
            while !taken.insert(candidate).inserted {
                suffix += 1
                candidate = "Z\(name.uppercased())\(suffix)"
            }
            return candidate
        }
        let tree = model.tree(of: root.id).sorted { (numbers[$0.name] ?? 0) < (numbers[$1.name] ?? 0) }
        for entity in tree {
            let attributes = model.stored(by: entity).map(\.name)
            let toOnes = ends(of: entity.id).filter { !$0.end.isToMany }.map(\.end.name)
            for name in attributes.sorted(by: inBytes) + toOnes.sorted(by: inBytes) {
                // The column of an element is named after it alone.
                columns["\(entity.id) \(name)"] = claim(name.split(separator: ".").last.map(String.init) ?? name)
            }
        }
        let table = table(of: root.id)
        let rows = try file.table(table)
        tables[table] = rows
        let present = try file.rows("SELECT name FROM pragma_table_info(\"\(table)\")").compactMap { $0[0].text }
        for name in tree.flatMap({ $0.transients ?? [] }) where present.contains("Z\(name.uppercased())") {
            complaints.append("\(table) has a column for the transient \(name)")
        }
        for row in rows {
            guard let key = row["Z_PK"]?.integer, let number = row["Z_ENT"]?.integer, let name = names[number],
                let entity = tree.first(where: { $0.name == name }), !entity.isAbstract
            else {
                complaints.append("\(table) has a row of no entity")
                continue
            }
            kinds[table, default: [:]][key] = name
            if row["Z_OPT"]?.integer ?? 0 < 1 { complaints.append("\(name) \(key) has Z_OPT below 1") }
            if Int(key) > highest[root.name] ?? -1 { complaints.append("\(name) \(key) is above Z_MAX") }
        }
    }

    private func inBytes(_ one: String, _ other: String) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }

    /// The ends that an entity declares itself.
    private func ends(of id: Int) -> [(link: HistoryModel.Link, end: HistoryModel.End, isBackward: Bool)] {
        model.links.flatMap { link in
            (link.end.entity == id ? [(link, link.end, false)] : [])
                + (link.inverse?.entity == id ? link.inverse.map { [(link, $0, true)] } ?? [] : [])
        }
    }

    private mutating func readObjects(_ entity: HistoryModel.Entity) throws {
        let (table, lineage) = (table(of: entity.id), model.lineage(entity.id))
        let rows = (tables[table] ?? []).filter { $0["Z_ENT"]?.integer == numbers[entity.name] }
        var members: [Int: [Int64: [Int64]]] = [:]
        let all = lineage.flatMap { declaring in ends(of: declaring.id) }
        for (place, (link, end, isBackward)) in all.enumerated() where end.isToMany {
            members[place] = try self.members(of: link, end, isBackward)
        }
        let stored = lineage.map { ($0, model.stored(by: $0)) }
        for row in rows {
            guard let key = row["Z_PK"]?.integer else { continue }
            var object: [String: String] = [:]
            for (declaring, attributes) in stored {
                for attribute in attributes {
                    guard let value = row[columns["\(declaring.id) \(attribute.name)"] ?? ""] else {
                        throw WitnessFailure("\(table) has no column for \(declaring.name).\(attribute.name)")
                    }
                    object[attribute.name] = try text(value, attribute)
                }
            }
            for (place, (link, end, isBackward)) in all.enumerated() {
                let other = isBackward ? link.end.entity : link.inverse?.entity ?? link.destination
                if end.isToMany {
                    let found = members[place]?[key] ?? []
                    object[end.name] = "m:" + found.map { reference($0, other) }.joined(separator: ",")
                } else {
                    object[end.name] = try toOne(end, row, to: other, "\(entity.name) \(key)")
                }
            }
            objects[entity.name, default: [:]][Int(key)] = object
        }
    }

    private func reference(_ key: Int64, _ entity: Int) -> String { "\(kinds[table(of: entity)]?[key] ?? "?")/\(key)" }

    private mutating func toOne(
        _ end: HistoryModel.End, _ row: [String: SQLiteFile.Value], to other: Int, _ place: String
    ) throws -> String {
        let column = columns["\(end.entity) \(end.name)"] ?? ""
        guard let value = row[column] else { throw WitnessFailure("no column for \(place) \(end.name)") }
        guard let key = value.integer else { return value == .null ? "-" : "?" }
        guard let kind = kinds[table(of: other)]?[key] else {
            complaints.append("\(place) \(end.name) leads to nothing")
            return "o:?/\(key)"
        }
        // The letter: a destination with entities below it has a column for the number of the object's own.
        let destination = model.entity(other)
        if model.entities.contains(where: { $0.parent == other }), let destination {
            let number = "Z\(numbers[destination.name] ?? 0)_\(column.dropFirst())"
            if let found = row[number], found.integer != numbers[kind] {
                complaints.append("\(place) \(end.name) has the entity number of another")
            }
        }
        return "o:\(kind)/\(key)"
    }

    /// The destinations of a to-many by the key of its owner, in their order.
    private mutating func members(
        of link: HistoryModel.Link, _ end: HistoryModel.End, _ isBackward: Bool
    ) throws -> [Int64: [Int64]] {
        let opposite = isBackward ? link.end : link.inverse
        let there = isBackward ? link.end.entity : link.inverse?.entity ?? link.destination
        let here = model.entity(end.entity).flatMap { numbers[$0.name] } ?? 0
        if let opposite, opposite.isToMany { return try joined(end, opposite, here) }
        let column: String
        let order: String
        if let opposite {
            column = columns["\(opposite.entity) \(opposite.name)"] ?? ""
            order = "Z_FOK_\(column.dropFirst())"
        } else {
            column = "Z\(here)\(end.name.uppercased())"
            order = "Z_FOK_\(here)\(end.name.uppercased())"
        }
        var found: [Int64: [(Int64, Int64)]] = [:]
        for row in tables[table(of: there)] ?? [] {
            guard let value = row[column] else { throw WitnessFailure("no column \(column) for \(end.name)") }
            guard let owner = value.integer, let key = row["Z_PK"]?.integer else { continue }
            let place = end.isOrdered ? row[order]?.integer : 0
            if place == nil { complaints.append("\(end.name) of \(owner) has a member without a place") }
            found[owner, default: []].append((place ?? 0, key))
        }
        return found.mapValues { $0.sorted { $0 < $1 }.map(\.1) }
    }

    private mutating func joined(
        _ end: HistoryModel.End, _ opposite: HistoryModel.End, _ here: Int64
    ) throws -> [Int64: [Int64]] {
        let there = model.entity(opposite.entity).flatMap { numbers[$0.name] } ?? 0
        let candidates = ["Z_\(here)\(end.name.uppercased())", "Z_\(there)\(opposite.name.uppercased())"]
        guard let table = candidates.first(where: joins.contains) else {
            throw WitnessFailure("no join table for \(end.name)")
        }
        let rows = try file.table(table)
        let names = try file.rows("SELECT name FROM pragma_table_info(\"\(table)\")").compactMap { $0[0].text }
        // A name that another column of the table took before has a number behind it.
        func actual(_ name: String) -> String {
            names.first { $0.hasPrefix(name) && $0.dropFirst(name.count).allSatisfy(\.isNumber) } ?? ""
        }
        let (mine, theirs) = (
            actual("Z_\(here)\(opposite.name.uppercased())"), actual("Z_\(there)\(end.name.uppercased())")
        )
        let order = actual("Z_FOK_\(there)\(end.name.uppercased())")
        var found: [Int64: [(Int64, Int64)]] = [:]
        for row in rows {
            guard let owner = row[mine]?.integer, let key = row[theirs]?.integer else {
                throw WitnessFailure("\(table) has no column for \(end.name)")
            }
            let place = end.isOrdered ? row[order]?.integer : 0
            if place == nil { complaints.append("\(end.name) of \(owner) has a member without a place") }
            if kinds[self.table(of: end.entity)]?[owner] == nil { complaints.append("\(table) leads from nothing") }
            found[owner, default: []].append((place ?? 0, key))
        }
        return found.mapValues { $0.sorted { $0 < $1 }.map(\.1) }
    }

    private mutating func checkHistory() throws {
        guard try !file.rows("SELECT name FROM sqlite_master WHERE name = 'ATRANSACTION'").isEmpty else { return }
        history = try file.table("ATRANSACTION").map { row in
            let time =
                switch row["ZTIMESTAMP"] {
                case .real(let number)?: number
                case .integer(let number)?: Double(number)
                default: Double.nan
                }
            return Transaction(number: Int(row["Z_PK"]?.integer ?? 0), time: time)
        }
        let lost = try file.rows(
            "SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)")
        if lost[0][0].integer != 0 { complaints.append("changes of history without a transaction") }
        let strange = try file.rows("SELECT DISTINCT ZENTITY FROM ACHANGE").compactMap { $0[0].integer }
            .filter { names[$0] == nil }
        if !strange.isEmpty { complaints.append("changes of history of no entity") }
    }
}

// MARK: - Values

extension StoreWitness {
    /// The value of a column by the letter of the format; `?` where it is none of the attribute's type.
    private mutating func text(_ value: SQLiteFile.Value, _ attribute: AttributeDescription) throws -> String {
        func bits(_ number: Double) -> String {
            let digits = String((number + 0).bitPattern, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        switch (attribute.type, value) {
        case (_, .null): return "-"
        case (.integer16, .integer(let number)), (.integer32, .integer(let number)), (.integer64, .integer(let number)):
            return "i:\(number)"
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return "b:\(number)"
        case (.double, .integer(let number)), (.float, .integer(let number)): return "f:" + bits(Double(number))
        case (.double, .real(let number)), (.float, .real(let number)): return "f:" + bits(number)
        case (.date, .integer(let number)): return "d:" + bits(Double(number))
        case (.date, .real(let number)): return "d:" + bits(number)
        case (.decimal, .integer(let number)): return "n:\(number)"
        case (.decimal, .real(let number)): return "n:" + Self.plain("\(number)")
        case (.decimal, .text(let bytes)): return "n:" + Self.plain(String(decoding: bytes, as: UTF8.self))
        case (.string, .text(let bytes)): return "s:" + bytes.hexadecimal
        case (.uri, .text(let bytes)): return "u:" + bytes.hexadecimal
        case (.uuid, .blob(let bytes)) where bytes.count == 16: return "U:" + bytes.hexadecimal
        case (.binary, .blob(let bytes)), (.transformable, .blob(let bytes)):
            guard attribute.allowsExternalBinaryDataStorage else { return HistoryValues.text(of: bytes) }
            if bytes.first == 1 { return HistoryValues.text(of: Array(bytes.dropFirst())) }
            guard bytes.first == 2, bytes.count == 38 else { return "?" }
            let name = String(decoding: bytes[1..<37], as: UTF8.self)
            namedFiles.insert(name)
            let path = "\(support)/_EXTERNAL_DATA/\(name)"
            guard let data = FileManager.default.contents(atPath: path) else { return "? no file" }
            return HistoryValues.text(of: [UInt8](data))
        default: return "?"
        }
    }

    /// A decimal number without an exponent, and without zeros that say nothing.
    static func plain(_ digits: String) -> String {
        let parts = digits.lowercased().split(separator: "e")
        guard let first = parts.first else { return digits }
        var (whole, fraction) = (String(first.split(separator: ".")[0]), "")
        if let point = first.firstIndex(of: ".") { fraction = String(first[first.index(after: point)...]) }
        let isNegative = whole.hasPrefix("-")
        if isNegative { whole.removeFirst() }
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        if exponent >= 0 {
            fraction += String(repeating: "0", count: max(0, exponent - fraction.count))
            whole += fraction.prefix(exponent)
            fraction = String(fraction.dropFirst(exponent))
        } else {
            whole = String(repeating: "0", count: max(0, -exponent - whole.count + 1)) + whole
            fraction = whole.suffix(-exponent) + fraction
            whole = String(whole.dropLast(-exponent))
        }
        while fraction.hasSuffix("0") { fraction.removeLast() }
        while whole.hasPrefix("0"), whole.count > 1 { whole.removeFirst() }
        let text = fraction.isEmpty ? whole : "\(whole).\(fraction)"
        return isNegative && text != "0" ? "-\(text)" : text
    }
}
