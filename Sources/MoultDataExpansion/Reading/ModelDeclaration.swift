import SwiftSyntax
import SwiftSyntaxMacros

/// A class with `@Model`, as far as its source says what it is.
struct ModelDeclaration {
    let syntax: ClassDeclSyntax
    let properties: [PersistedProperty]
    /// The argument lists of `#Unique` and of `#Index`.
    let uniqueness: [LabeledExprListSyntax]
    let indices: [LabeledExprListSyntax]

    init(_ syntax: ClassDeclSyntax) {
        self.syntax = syntax
        let members = syntax.memberBlock.members.map(\.decl)
        properties = members.compactMap { $0.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init) }
        let constraints = members.compactMap { $0.as(MacroExpansionDeclSyntax.self) }
        uniqueness = constraints.filter { $0.macroName.text == "Unique" }.map(\.arguments)
        indices = constraints.filter { $0.macroName.text == "Index" }.map(\.arguments)
    }

    var name: String { syntax.name.text }
    var hasInitializer: Bool { syntax.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) } }

    /// Whether a property may be a relationship, as far as its source tells.
    var mayLeadToModels: Bool { properties.contains { $0.relationship != nil || $0.mayBeModel } }

    /// Returns the source location of the class and its properties as an expression; nil for source that is in no file.
    func declaration(in context: some MacroExpansionContext) -> String? {
        func place(of node: some SyntaxProtocol) -> AbstractSourceLocation? {
            context.location(of: node, at: .afterLeadingTrivia, filePathMode: .fileID)
        }
        guard let own = place(of: syntax.name) else { return nil }
        let lines = properties.compactMap { property in
            place(of: property.pattern).map { "\"\(property.name)\": \($0.line)" }
        }
        let list = lines.isEmpty ? "[:]" : "[\(lines.joined(separator: ", "))]"
        return "MoultData.Schema.SourceDeclaration(file: \(own.file), line: \(own.line), properties: \(list))"
    }

    /// The first name after the colon: the class that it inherits from, where it inherits from one.
    var parent: TypeSyntax? { syntax.inheritanceClause?.inheritedTypes.first?.type }

    /// Returns the access modifier of a member that the macro adds, so that it is visible wherever the class is.
    func access(isOverridable: Bool) -> String {
        for modifier in syntax.modifiers {
            switch modifier.name.tokenKind {
            case .keyword(.open): return isOverridable ? "open " : "public "
            case .keyword(.public): return "public "
            case .keyword(.package): return "package "
            default: continue
            }
        }
        return ""
    }
}
