import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: makes a class an observable `PersistentModel`, with accessors to its backing data and a description of its
/// properties.
struct ModelMacro: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let syntax = declaration.as(ClassDeclSyntax.self) else { return [] }
        let model = ModelDeclaration(syntax)
        // A subclass of a model already conforms, and so does a class that declares the conformance itself.
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
            // Report it here, because the compiler does not ask for the members of an enum.
            let kind = declaration.introducer.text
            context.diagnose(Diagnostic(node: declaration.introducer, message: ModelDiagnostic.notAClass(kind: kind)))
            return []
        }
        guard !protocols.isEmpty else { return [] }
        // The conformance of a main actor class traps when it is used elsewhere. Any other is nonisolated, even in a
        // module whose declarations belong to the main actor by default.
        let isMainActors = declaration.attributes.contains(named: "MainActor")
        let names = protocols.map { (isMainActors && $0.isPersistentModel ? "@preconcurrency " : "") + "\($0.trimmed)" }
        let word = isMainActors ? "" : "nonisolated "
        return [
            try ExtensionDeclSyntax("\(raw: word)extension \(type.trimmed): \(raw: names.joined(separator: ", ")) {}")
        ]
    }
}

extension DeclGroupSyntax {
    /// The keyword that begins the declaration: `struct`, `enum`, `actor`, …
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

/// The members that `@Model` adds to a class: its backing data, its observation, its initialiser for objects that a
/// context reads, and the description of its properties.
struct ModelMembers {
    let model: ModelDeclaration
    /// The superclass's name, if the superclass is a model.
    let parent: String?
    /// The source location of the class, as an expression.
    let declaration: String?

    init(_ model: ModelDeclaration, parent: String?, declaration: String?) {
        self.model = model
        self.parent = parent
        self.declaration = declaration
    }

    var all: [DeclSyntax] {
        let backing: [DeclSyntax] = ["private var _$backingData: any MoultData.BackingData = MoultData.OwnValues()"]
        let observing: [DeclSyntax] =
            parent == nil ? ["\(raw: access)let _$observationRegistrar = Observation.ObservationRegistrar()"] : []
        // A class without an initialiser or properties of its own inherits its superclass's initialisers.
        let initializer = parent != nil && !model.hasInitializer && model.properties.isEmpty ? [] : [initializer]
        return backing + observing + [persistentBackingData, ownValues] + initializer + [properties] + metadata
            + choices
    }

    private var access: String { model.access(isOverridable: false) }
    /// The modifiers of members that a subclass overrides.
    private var overridable: String { (parent == nil ? "" : "override ") + model.access(isOverridable: true) }

    private var persistentBackingData: DeclSyntax {
        parent == nil
            ? """
            \(raw: overridable)var persistentBackingData: any MoultData.BackingData {
                get { _$backingData }
                set { _$backingData = newValue }
            }
            """
            : """
            \(raw: overridable)var persistentBackingData: any MoultData.BackingData {
                get { super.persistentBackingData }
                set {
                    super.persistentBackingData = newValue
                    _$backingData = newValue
                }
            }
            """
    }

    private var constants: [PersistedProperty] { model.properties.filter(\.isConstant) }

    /// The declarations of the accessors for constants. A variable has a peer declaration for this.
    private var choices: [DeclSyntax] {
        let lines = constants.map { "\n    static let \($0.choiceName) = \($0.choice(in: model.name))" }
        return lines.isEmpty ? [] : ["private enum _$Constants {\(raw: lines.joined())\n}"]
    }

    /// The declaration of `_$ownValues`. It writes the values of constants when a context reads it, because no accessor
    /// sees their initialisation.
    private var ownValues: DeclSyntax {
        let inherited = parent == nil ? "" : "super._$ownValues + "
        let written = constants.map { property in
            "\(property.access(in: model.name)).write(\(property.spelling), \"\(property.name)\", to: _$backingData)\n    "
        }
        let lines = written.isEmpty ? "" : written.joined() + "return "
        return """
            \(raw: overridable)var _$ownValues: [MoultData.OwnValues] {
                \(raw: lines)\(raw: inherited)[_$backingData].compactMap { $0 as? MoultData.OwnValues }
            }
            """
    }

    private var initializer: DeclSyntax {
        let kept = model.properties.map { property in
            property.isConstant
                ? "\(property.spelling) = \(property.access(in: model.name)).read(\"\(property.name)\", of: backingData)"
                : "_\(property.name) = MoultData._Kept()"
        }
        let rest = parent == nil ? [] : ["super.init(backingData: backingData)"]
        let lines = (kept + rest + ["_$backingData = backingData"]).joined(separator: "\n    ")
        return """
            \(raw: access)required init(backingData: any MoultData.BackingData) {
                \(raw: lines)
            }
            """
    }

    /// The properties, with key paths rooted in the subclass: `\Dog.name` and `\Animal.name` are different key paths.
    private var properties: DeclSyntax {
        let list = model.properties.map { "\n        \(description(of: $0))," }.joined()
        let inherited = parent.map { "\($0)._$properties(of: _MoultModel.self) + " } ?? ""
        return """
            \(raw: access)static func _$properties<_MoultModel: \(raw: model.name)>(of model: _MoultModel.Type) -> [MoultData.Schema.PropertyMetadata] {
                \(raw: inherited)[\(raw: list)
                ]
            }
            """
    }

    private func description(of property: PersistedProperty) -> String {
        var arguments = ["\"\(property.name)\"", "\\_MoultModel.\(property.spelling)", property.access(in: model.name)]
        if let value = property.initialValue { arguments.append("default: { \(value) }") }
        if let attribute = property.attribute { arguments.append(".attribute(\(list(attribute)))") }
        if let relationship = property.relationship { arguments.append(".relationship(\(list(relationship)))") }
        return "MoultData.Schema.PropertyMetadata(\(arguments.joined(separator: ", ")))"
    }

    private func list(_ attribute: AttributeSyntax) -> String {
        attribute.arguments?.as(LabeledExprListSyntax.self)?.trimmedDescription ?? ""
    }

    /// The declaration of the metadata, created once because contexts and fetches read it for every object.
    private var metadata: [DeclSyntax] {
        [
            "private static let _$metadata = MoultData.Schema.ModelMetadata(\(raw: metadataArguments))",
            "\(raw: overridable)class var schemaMetadata: MoultData.Schema.ModelMetadata { _$metadata }",
        ]
    }

    private var metadataArguments: String {
        var arguments = ["name: \"\(model.name)\"", "properties: _$properties(of: \(model.name).self)"]
        if let parent { arguments.append("parent: \(parent).self") }
        let uniqueness = model.uniqueness.flatMap { $0 }.compactMap(keyPaths)
        if !uniqueness.isEmpty { arguments.append("uniqueness: [\(uniqueness.joined(separator: ", "))]") }
        let indices = model.indices.flatMap { $0 }.compactMap { argument in
            keyPaths(argument).map { "\(argument.indexKind)(\($0))" }
        }
        if !indices.isEmpty { arguments.append("indices: [\(indices.joined(separator: ", "))]") }
        if let declaration { arguments.append("declaration: \(declaration)") }
        return arguments.joined(separator: ", ")
    }

    /// Returns `[\.a, \.b]` as key paths of this class.
    private func keyPaths(_ argument: LabeledExprSyntax) -> String? {
        argument.keyPathList.map { paths in
            let named = paths.map { path in
                var path = path
                path.root = path.root ?? "\(raw: model.name)"
                return path.trimmedDescription
            }
            return "[\(named.joined(separator: ", "))]"
        }
    }
}

extension LabeledExprSyntax {
    /// The kind of the index: `.binary`, or the case that wraps the list.
    fileprivate var indexKind: String {
        let called = expression.as(FunctionCallExprSyntax.self)?.calledExpression.as(MemberAccessExprSyntax.self)
        return ".\(called?.declName.baseName.text ?? "binary")"
    }
}
