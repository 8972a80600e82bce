import MoultXML

/// Finds the file and line of what a rule has found; a file is read when the first finding asks for it.
struct LintPlaces {
    private let files: [String: String]
    private let path: String
    private let declarations: [String: [String: LintDeclaration]]
    /// Newest first.
    private let versions: [String]
    private var trees: [String: ModelTree] = [:]

    /// - Parameters:
    ///   - path: the model's, for what is in no file.
    ///   - declarations: in Swift source.
    init(_ versions: [LintVersion], path: String, declarations: [String: [String: LintDeclaration]] = [:]) {
        self.path = path
        self.declarations = declarations
        self.versions = versions.reversed().map(\.name)
        files = Dictionary(versions.compactMap { version in version.file.map { (version.name, $0) } }) { $1 }
    }

    mutating func finding(_ match: LintMatch, of rule: LintRule) -> LintFinding {
        let file = match.line?.file ?? files[match.version]
        let declared = file == nil ? declaration(of: match) : nil
        let element = file.flatMap { tree(of: $0)?.element(match.entity, match.member) }
        return LintFinding(
            rule: rule, severity: match.severity ?? rule.severity, version: match.version, entity: match.entity,
            member: match.member, file: file ?? declared?.file ?? path,
            line: match.line?.line ?? element?.line ?? declared?.line, message: match.message,
            advice: match.remedy,
            xml: match.edit.flatMap { edit in
                element.flatMap { $0.isEntityOrProperty ? $0.startTag(setting: edit.attributes) : nil }
            })
    }

    /// The declaration of the property, otherwise of the class: of the version, otherwise of the newest that has it.
    private func declaration(of match: LintMatch) -> (file: String, line: Int)? {
        guard let entity = match.entity else { return nil }
        let property = match.member.map { String($0.prefix { $0 != "." && $0 != "," }) }
        let known = ([match.version] + versions).compactMap { declarations[$0]?[entity] }
        let best = known.first { property == nil || $0.properties[property ?? ""] != nil } ?? known.first
        return best.map { best in (best.file, property.flatMap { best.properties[$0] } ?? best.line) }
    }

    private mutating func tree(of file: String) -> ModelTree? {
        if let tree = trees[file] { return tree }
        guard file.hasSuffix("/contents"), let tree = try? ModelTree(contentsOf: file) else { return nil }
        trees[file] = tree
        return tree
    }
}
