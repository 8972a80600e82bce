import MoultXML

/// Finds the file and line of what a rule has found; a file is read when the first finding asks for it.
struct LintPlaces {
    private let files: [String: String]
    private let path: String
    private var trees: [String: ModelTree] = [:]

    /// - Parameter path: the model's, for what is in no file.
    init(_ versions: [LintVersion], path: String) {
        self.path = path
        files = Dictionary(versions.compactMap { version in version.file.map { (version.name, $0) } }) { $1 }
    }

    mutating func finding(_ match: LintMatch, of rule: LintRule) -> LintFinding {
        let file = match.line?.file ?? files[match.version]
        let element = file.flatMap { tree(of: $0)?.element(match.entity, match.member) }
        return LintFinding(
            rule: rule, severity: match.severity ?? rule.severity, version: match.version, entity: match.entity,
            member: match.member, file: file ?? path, line: match.line?.line ?? element?.line, message: match.message,
            remedy: match.remedy,
            xml: match.edit.flatMap { edit in
                element.flatMap { $0.isEntityOrProperty ? $0.startTag(setting: edit.attributes) : nil }
            })
    }

    private mutating func tree(of file: String) -> ModelTree? {
        if let tree = trees[file] { return tree }
        guard file.hasSuffix("/contents"), let tree = try? ModelTree(contentsOf: file) else { return nil }
        trees[file] = tree
        return tree
    }
}
