import MoultModel

/// Details of a model source that the model leaves out and its compiled form keeps.
package struct SourceSpelling: Sendable {
    /// The defaults of decimal attributes as they are spelled, by `Entity.attribute`: of a zero, the compiler keeps the
    /// decimal places.
    private(set) var decimalTexts: [String: String] = [:]
    private var entities: [String: Int] = [:]
    private var properties: [String: [String: Int]] = [:]

    init() {}

    init(_ root: ModelElement) {
        for (position, entity) in root.children("entity").enumerated() {
            entities[entity.name] = position
            for (position, property) in SourceCheck.properties(of: entity).enumerated() {
                properties[entity.name, default: [:]][property.name] = position
                guard property.text(.attributeType) == AttributeType.decimal.name,
                    let text = property.text(.defaultValueString), DecimalNumber(text) != nil
                else { continue }
                decimalTexts["\(entity.name).\(property.name)"] = text
            }
        }
    }

    /// The names of entities, or of the properties of one, as the source has them; those that it does not have, last.
    func inOrder(_ names: [String], of entity: String? = nil) -> [String] {
        let positions = entity.map { properties[$0] ?? [:] } ?? entities
        let placed = names.enumerated().map { (positions[$0.element] ?? .max, $0.offset) }
        return placed.sorted { $0 < $1 }.map { names[$0.1] }
    }
}

/// The version numbers that Apple's compiler writes about itself into a compiled model.
package struct CompilerVersion: Sendable, Hashable {
    /// `CDMCompilerToolVersion`
    package let tool: Double
    /// `CDMCompilerXcodeVersion`: 260200 of Xcode 26.2.
    package let xcode: Int64

    package init(tool: Double, xcode: Int64) {
        self.tool = tool
        self.xcode = xcode
    }
}
