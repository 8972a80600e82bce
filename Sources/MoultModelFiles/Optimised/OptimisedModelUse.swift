import MoultModel

/// The texts and data of an optimised model that have been read.
///
/// What a model says beyond the known (user info, configurations, renaming identifiers, validation rules) puts a text or
/// data of its own into the file. One that nothing known names shows that something was not read.
struct OptimisedModelUse {
    private var texts: Set<Int> = [0]
    private var wideTexts: Set<Int> = [0]
    private var blobs: Set<Int> = [0]

    mutating func text(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> String {
        texts.insert(number)
        return try sections.entry(number, of: sections.texts, at: cursor)
    }

    mutating func wideText(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> String {
        wideTexts.insert(number)
        return try sections.entry(number, of: sections.wideTexts, at: cursor)
    }

    mutating func blob(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> [UInt8] {
        blobs.insert(number)
        return try sections.entry(number, of: sections.blobs, at: cursor)
    }

    /// A version hash.
    @discardableResult
    mutating func hash(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> [UInt8] {
        let hash = try blob(number, sections, cursor)
        guard hash.count == 32 else { throw cursor.refused("a version hash has \(hash.count) bytes") }
        return hash
    }

    /// - Parameter relationships: their names, of which Core Data makes the names of columns and join tables.
    func check(_ sections: OptimisedModelSections, relationships: Set<String>) throws {
        let end = OptimisedModelCursor(bytes: sections.bytes, position: sections.bytes.count)
        let columns = Set(relationships.map { "_Z\($0.uppercased())" })
        func isDerived(_ text: String) -> Bool {
            if ["_pk", "_ent", "_opt", "NSManagedObject"].contains(text) || columns.contains(text) { return true }
            let isColumn = text.hasPrefix("_Z")
            let rest = text.dropFirst(isColumn ? 2 : 0)
            let name = rest.drop { $0.isNumber }
            guard name.count < rest.count else { return false }
            return isColumn ? columns.contains("_Z\(name)") : relationships.contains(String(name))
        }
        for (number, text) in sections.texts.enumerated() where !texts.contains(number) && !isDerived(text) {
            throw end.refused("its text \"\(text)\" belongs to nothing that Moult knows")
        }
        for (number, text) in sections.wideTexts.enumerated() where !wideTexts.contains(number) {
            throw end.refused("its text \"\(text)\" belongs to nothing that Moult knows")
        }
        guard blobs.count == sections.blobs.count else {
            throw end.refused("it holds data that belong to nothing that Moult knows")
        }
    }
}
