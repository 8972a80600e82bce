import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// All macros that `MoultData` declares.
package enum ProvidedMacros {
    package static var all: [any Macro.Type] {
        [
            ModelMacro.self, PersistedPropertyMacro.self, PropertyMarkerMacro.self, ModelConstraintMacro.self,
            ModelActorMacro.self, ModelInitializerMacro.self,
        ]
    }
}

/// `@Attribute`, `@Relationship` and `@Transient`: markers that `@Model` reads and that expand to nothing.
struct PropertyMarkerMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// `#Unique` and `#Index`: markers that `@Model` reads and that expand to nothing.
struct ModelConstraintMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// `@ModelActor`: adds a container, an executor with its own context, and an initialiser for both to an actor.
struct ModelActorMacro: MemberMacro, ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let actor = declaration.as(ActorDeclSyntax.self) else {
            context.diagnose(
                .init(node: node, message: ModelDiagnostic.notAnActor))
            return []
        }
        let modifiers = actor.modifiers.map(\.name.tokenKind)
        let access =
            modifiers.contains(.keyword(.public))
            ? "public " : modifiers.contains(.keyword(.package)) ? "package " : ""
        return [
            "\(raw: access)nonisolated let modelExecutor: any MoultData.ModelExecutor",
            "\(raw: access)nonisolated let modelContainer: MoultData.ModelContainer",
            """
            \(raw: access)init(modelContainer: MoultData.ModelContainer) {
                let modelContext = MoultData.ModelContext(modelContainer)
                self.modelExecutor = MoultData.DefaultSerialModelExecutor(modelContext: modelContext)
                self.modelContainer = modelContainer
            }
            """,
        ]
    }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(ActorDeclSyntax.self) else { return [] }
        return [try ExtensionDeclSyntax("extension \(type.trimmed): MoultData._ModelActor {}")]
    }
}

/// `@_ModelInitializer`, which `@Model` adds to initialisers. At the end of an initialiser, the context of an object
/// that the model refers to may insert the model: the accessors cannot offer it, because `self` is not available in
/// them yet.
struct ModelInitializerMacro: BodyMacro {
    static func expansion(
        of node: AttributeSyntax, providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        guard let initializer = declaration.as(InitializerDeclSyntax.self), let body = initializer.body else {
            return []
        }
        let statements = Array(body.statements)
        let call: CodeBlockItemSyntax = "_$backingData._wasWritten(by: self)"
        guard body.mayReturnEarly else { return statements.last?.endsFlow == true ? statements : statements + [call] }
        // In a throwing or failable initialiser, an early exit may come before the model is complete.
        let isPlain = initializer.optionalMark == nil && initializer.signature.effectSpecifiers?.throwsClause == nil
        return isPlain ? ["defer { _$backingData._wasWritten(by: self) }"] + statements : statements
    }
}

extension CodeBlockSyntax {
    fileprivate var mayReturnEarly: Bool {
        tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.return) }
    }
}

extension CodeBlockItemSyntax {
    /// Whether execution never continues after this item.
    fileprivate var endsFlow: Bool {
        if item.is(ThrowStmtSyntax.self) { return true }
        let name = item.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription
        return name.map { ["fatalError", "preconditionFailure"].contains($0) } ?? false
    }
}
