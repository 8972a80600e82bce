import MoultModel
import MoultSQLite
import MoultStore

/// The enums of one entity: SwiftData keeps one with raw values in a column of its own name, any other in a column for
/// each case, of which the one in use holds its own name.
struct EnumAudit {
    let layout: StoreLayout
    let connection: Connection
    /// Whether findings have what the columns of the rows hold.
    let withValues: Bool

    /// Rows whose enum has no case, or more than one, or a text that is no case's name. Which raw values an enum has, no
    /// model says.
    func findings() throws -> [Finding] {
        try layout.model.entities.flatMap { entity in
            try entity.attributes.filter(\.isEnum).compactMap { try finding($0, of: entity) }
        }
    }

    private func finding(_ attribute: AttributeDescription, of entity: EntityDescription) throws -> Finding? {
        let names = attribute.leaves.map(\.name)
        let columns = names.compactMap { layout.column(forAttribute: $0, in: entity)?.quotedName }
        guard columns.count == names.count, !columns.isEmpty, let table = layout.table(for: entity) else { return nil }
        let cases = attribute.elements.map(\.name)
        let hasCases = attribute.userInfo[AttributeDescription.enumCasesKey] == cases.joined(separator: ",")
        // How the columns of any other enum hold its case is not known.
        guard hasCases || cases == [attribute.name] else { return nil }
        let used = columns.map { "(\($0) IS NOT NULL)" }.joined(separator: " + ")
        if hasCases {
            let wrong = ["\(used) > 1"] + zip(columns, cases).map { "\($0) <> \($1.quotedLiteral)" }
            if let fault = try finding(
                attribute, of: entity, in: table, columns, wrong.conditions(joinedBy: "OR"), .error)
            {
                return fault
            }
        }
        // Core Data lets it be, as after a migration that added the enum; the app's code cannot read it.
        return attribute.isOptional
            ? nil : try finding(attribute, of: entity, in: table, columns, "\(used) = 0", .note)
    }

    private func finding(
        _ attribute: AttributeDescription, of entity: EntityDescription, in table: EntityTable, _ columns: [String],
        _ fault: String, _ severity: Finding.Severity
    ) throws -> Finding? {
        let numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
        let rows = "\(table.name.quotedName) WHERE Z_ENT IN (\(numbers)) AND (\(fault))"
        guard let count = try connection.integer("SELECT count(*) FROM \(rows)"), count > 0 else { return nil }
        var finding = Finding(
            code: "enum-without-case", severity: severity, place: "\(entity.name).\(attribute.name)",
            message:
                "\(Quantity.count(count, "object of \(entity.name) has", plural: "objects of \(entity.name) have")) no "
                + "\(severity == .error ? "valid " : "")case for \(attribute.name).",
            remedy: "Set \(attribute.name) of these objects in the app. \(.dump) shows what is stored, and "
                + "\(.validate, .values) prints it here.")
        let stored = columns.map { "substr(quote(\($0)), 1, 200)" }.joined(separator: " || ', ' || ")
        try connection.forEachRow(
            "SELECT Z_PK, \(withValues ? stored : "NULL") FROM \(rows) ORDER BY Z_PK LIMIT \(Finding.keyLimit)"
        ) { row in
            finding.keys.append(row.integer(0))
            if withValues { finding.values.append("\(row.integer(0)): \(row.text(1) ?? "NULL")") }
        }
        return finding
    }
}
