import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: makes a class a `PersistentModel`, observable, with accessors that lead to its backing data and a
/// description of its properties.
struct ModelMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let syntax = declaration.as(ClassDeclSyntax.self) else { return [] }
        let model = ModelDeclaration(syntax)
        // A class whose parent is a model conforms already; so does one that says so itself.
        let isSubclass =
            !protocols.contains { $0.isPersistentModel } && model.parent.map { !$0.isPersistentModel } ?? false
        model.check(isSubclass: isSubclass, in: context)
        return ModelMembers(
            model, parent: isSubclass ? model.parent?.trimmedDescription : nil,
            declaration: model.declaration(in: context)
        ).all
    }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let model = declaration.as(ClassDeclSyntax.self) else { return [] }
        if let initializer = member.as(InitializerDeclSyntax.self) {
            let isAskedFor = initializer.body != nil && ModelDeclaration(model).mayLeadToModels
            return isAskedFor ? ["@_ModelInitializer"] : []
        }
        let property = member.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init)
        return property.map { !$0.isConstant } ?? false ? ["@_PersistedProperty"] : []
    }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(ClassDeclSyntax.self) else {
            // Said here, because the compiler does not ask for the members of an enum.
            let kind = declaration.introducer.text
            context.diagnose(
                Diagnostic(node: declaration.introducer, message: ModelDiagnostic.notAClass(kind: kind)))
            return []
        }
        guard !protocols.isEmpty else { return [] }
        // What the main actor has is asked there, or the program stops. Everything else is asked from anywhere, also in
        // a module whose declarations belong to the main actor by default.
        let isMainActors = declaration.attributes.contains(named: "MainActor")
        let names = protocols.map { (isMainActors && $0.isPersistentModel ? "@preconcurrency " : "") + "\($0.trimmed)" }
        let word = isMainActors ? "" : "nonisolated "
        return [
            try ExtensionDeclSyntax(
                "\(raw: word)extension \(type.trimmed): \(raw: names.joined(separator: ", ")) {}")
        ]
    }
}

extension DeclGroupSyntax {
    /// The word that begins the declaration: `struct`, `enum`, `actor`, …
    fileprivate var introducer: TokenSyntax {
        let declaration = Syntax(self)
        return declaration.as(StructDeclSyntax.self)?.structKeyword ?? declaration.as(EnumDeclSyntax.self)?.enumKeyword
            ?? declaration.as(ActorDeclSyntax.self)?.actorKeyword
            ?? declaration.as(ProtocolDeclSyntax.self)?.protocolKeyword
            ?? declaration.as(ExtensionDeclSyntax.self)?.extensionKeyword ?? memberBlock.leftBrace
    }
}

extension TypeSyntax {
    fileprivate var isPersistentModel: Bool {
        ["PersistentModel", "MoultData.PersistentModel", "SwiftData.PersistentModel"].contains(trimmedDescription)
    }
}
