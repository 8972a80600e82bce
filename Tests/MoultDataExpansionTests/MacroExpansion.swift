import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

@testable import MoultDataExpansion

/// What the macros make of a source, expanded in this process.
struct MacroExpansion {
    let source: String
    /// `line:column message`, in the order of reporting; warnings say so.
    let diagnostics: [String]
    /// What an editor offers to do about them.
    let fixes: [String]

    /// - Parameter isSubclass: whether the compiler would say that the class conforms already, by its parent.
    init(_ text: String, isSubclass: Bool = false) {
        let file = Parser.parse(source: text)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "App", fullFilePath: "App.swift")])
        let conformances: [TypeSyntax] =
            isSubclass ? [] : ["MoultData.PersistentModel", "Observation.Observable", "Hashable"]
        let specs: [String: MacroSpec] = [
            "Model": MacroSpec(type: ModelMacro.self, conformances: conformances),
            "_ModelInitializer": MacroSpec(type: ModelInitializerMacro.self),
            "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
            "Attribute": MacroSpec(type: PropertyMarkerMacro.self),
            "Relationship": MacroSpec(type: PropertyMarkerMacro.self),
            "Transient": MacroSpec(type: PropertyMarkerMacro.self),
            "Unique": MacroSpec(type: ModelConstraintMacro.self),
            "Index": MacroSpec(type: ModelConstraintMacro.self),
        ]
        let expanded = file.expand(macroSpecs: specs) { syntax in
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
        }
        source = expanded.description
        diagnostics = context.diagnostics.map { found in
            let place = context.location(for: found.position, anchoredAt: found.node, fileName: "App.swift")
            let kind = found.diagMessage.severity == .error ? "" : "\(found.diagMessage.severity): "
            return "\(place.line):\(place.column) \(kind)\(found.message)"
        }
        fixes = context.diagnostics.flatMap(\.fixIts).map(\.message.message)
    }

    /// The same without white space, so that a test says what is made and not how it is laid out.
    var words: String { source.filter { !$0.isWhitespace } }

    func contains(_ fragment: String) -> Bool { words.contains(fragment.filter { !$0.isWhitespace }) }
}
