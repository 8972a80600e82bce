import MoultLint
import MoultSystem
import MoultTransform

extension PlanOutline {
    /// The places where the models are declared, by version and entity, with the paths of the files. A program knows a
    /// file by its module and its name. The file is looked for below the working folder; if it is not found, it keeps
    /// the name that the program has for it.
    package var lintDeclarations: [String: [String: LintDeclaration]] {
        let names = Set(declarations.values.flatMap { $0.values.map(\.file) })
        let paths = SwiftFiles(named: names).paths
        return declarations.mapValues { entities in
            entities.mapValues {
                LintDeclaration(file: paths[$0.file] ?? $0.file, line: $0.line, properties: $0.properties)
            }
        }
    }
}

/// Files of source by `Module/File.swift`.
private struct SwiftFiles {
    private(set) var paths: [String: String] = [:]
    private let wanted: [String: [String]]

    init(named names: Set<String>) {
        wanted = Dictionary(grouping: names.sorted()) { Path.name(of: $0) }
        if !wanted.isEmpty { search(".", depth: 0) }
    }

    private mutating func search(_ folder: String, depth: Int) {
        let system = POSIXSystem()
        guard depth <= 12, let names = try? system.list(folder) else { return }
        for name in names.sorted() where !name.hasPrefix(".") && !["Pods", "Carthage", "DerivedData"].contains(name) {
            let path = folder == "." ? name : Path.join(folder, name)
            if let candidates = wanted[name] {
                // Two modules may have files of one name.
                for file in candidates where candidates.count == 1 || path.contains(Path.folder(of: file) + "/") {
                    paths[file] = paths[file] ?? path
                }
            } else if !name.contains("."), (try? system.isLink(path)) == false,
                (try? system.status(of: path))??.kind == .folder
            {
                search(path, depth: depth + 1)
            }
        }
    }
}
