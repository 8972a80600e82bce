import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor a container, an executor over a context of its own, and the initialiser that makes
/// both.
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
