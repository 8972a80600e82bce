import MoultModel
import MoultReport
import MoultStore

/// The SQL of a new store of a version, as Core Data would write it.
package struct SchemaScript: ToolAnswer {
    private let version: String
    private let framework: Int
    private let statements: [String]
    package let findings: [Finding]

    /// - Throws: what laying out the tables throws.
    package init(_ version: ModelVersion, framework: Int?, history: Bool) throws {
        self.version = version.name
        self.framework = framework ?? FrameworkLevel.newest.number
        let layout = try StoreLayout(model: version.model, framework: self.framework, history: history)
        findings = layout.findings
        statements = layout.createStatements + layout.primaryKeyRows.map(\.insertStatement)
    }

    package var document: JSONValue {
        [
            "format": 1, "version": .string(version), "framework": JSONValue(framework),
            "statements": JSONValue(statements),
        ]
    }

    package func lines(style: TextStyle) -> [String] { statements.map { $0 + ";" } }
}
