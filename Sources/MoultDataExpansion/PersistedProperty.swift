import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A stored property of a model that is persisted.
struct PersistedProperty {
    /// The property's name, without backticks.
    let name: String
    /// The name as the source declares it.
    let pattern: IdentifierPatternSyntax
    let initialValue: ExprSyntax?
    /// The attributes `@Attribute(…)` and `@Relationship(…)`, if the property has them.
    let attribute: AttributeSyntax?
    let relationship: AttributeSyntax?
    /// Whether the type may be a model or a collection of models, as far as the source shows.
    let mayBeModel: Bool

    /// Whether the property is a `let`, which an initialiser sets: it is read once, when a context makes the object.
    let isConstant: Bool

    /// Returns nil for a property that is not persisted: computed, static, lazy, transient, or a constant with a value.
    init?(_ variable: VariableDeclSyntax) {
        guard variable.isInstanceStored,
            variable.attribute(named: "Transient") == nil, !variable.has(.lazy),
            let binding = variable.bindings.first, variable.bindings.count == 1,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else { return nil }
        isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
        guard !isConstant || binding.initializer == nil else { return nil }
        self.pattern = pattern
        name = pattern.identifier.identifier?.name ?? pattern.identifier.text
        initialValue = binding.initializer?.value.trimmed
        attribute = variable.attribute(named: "Attribute")
        relationship = variable.attribute(named: "Relationship")
        mayBeModel = binding.typeAnnotation.map { $0.type.mayBeModel } ?? (initialValue?.isLiteral == false)
    }

    /// The transformer in `@Attribute(.transformable(by: …))`.
    var transformer: ExprSyntax? {
        let options = attribute?.arguments?.as(LabeledExprListSyntax.self)?.map(\.expression) ?? []
        for option in options {
            guard let call = option.as(FunctionCallExprSyntax.self),
                call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "transformable"
            else { continue }
            return call.arguments.first?.expression.trimmed
        }
        return nil
    }

    /// The name as spelled in an expression or a pattern.
    var spelling: String { Keyword.isReserved(name) ? "`\(name)`" : name }

    /// Returns an expression for the property's accessor, which the model creates once.
    func access(in model: String) -> String { "\(model).\(isConstant ? "_$Constants." : "")\(choiceName)" }

    var choiceName: String { "_$kept_\(name)" }

    /// Whether the property has `@Attribute(.codable)`.
    private var isEncoded: Bool {
        let options = attribute?.arguments?.as(LabeledExprListSyntax.self)?.map(\.expression) ?? []
        return options.contains { $0.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "codable" }
    }

    /// Returns the expression that selects the accessor in `MoultData`.
    func choice(in model: String) -> String {
        if isEncoded { return "MoultData._encodedProperty(\\\(model).\(spelling))" }
        guard let transformer else { return "MoultData._property(\\\(model).\(spelling))" }
        return "MoultData._property(\\\(model).\(spelling), transformedBy: \(transformer))"
    }
}

extension VariableDeclSyntax {
    /// Whether every object stores the property: it is not static and has no accessors other than observers.
    var isInstanceStored: Bool {
        !has(.static) && !has(.class) && bindings.allSatisfy { $0.accessorBlock.map(\.holdsObserversOnly) ?? true }
    }

    var hasObservers: Bool { bindings.contains { $0.accessorBlock?.holdsObserversOnly ?? false } }

    func has(_ keyword: Keyword) -> Bool { modifiers.contains { $0.name.tokenKind == .keyword(keyword) } }

    func attribute(named name: String) -> AttributeSyntax? { attributes.attribute(named: name) }
}

extension AttributeListSyntax {
    func contains(named name: String) -> Bool { attribute(named: name) != nil }

    func attribute(named name: String) -> AttributeSyntax? {
        for case .attribute(let attribute) in self {
            let path = attribute.attributeName.trimmedDescription
            if path == name || path == "MoultData.\(name)" || path == "SwiftData.\(name)" { return attribute }
        }
        return nil
    }
}

extension ExprSyntax {
    fileprivate var isLiteral: Bool {
        [.integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .stringLiteralExpr].contains(kind)
    }
}

extension TypeSyntax {
    fileprivate var mayBeModel: Bool {
        let name = trimmedDescription.filter { !"?![] ".contains($0) }
        return ![
            "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float",
            "Bool", "String", "Date", "Data", "UUID", "URL", "Decimal",
        ].contains(name)
    }
}

extension AccessorBlockSyntax {
    fileprivate var holdsObserversOnly: Bool {
        guard case .accessors(let accessors) = accessors else { return false }
        return accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
}

extension Keyword {
    /// Returns whether a name needs backticks. After a dot or in a key path, backticks do no harm.
    fileprivate static func isReserved(_ name: String) -> Bool {
        [
            "associatedtype", "as", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
            "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
            "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
            "public", "repeat", "rethrows", "return", "self", "Self", "static", "struct", "subscript", "super",
            "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
        ].contains(name)
    }
}

/// `@_PersistedProperty`, which `@Model` adds to every persisted property: its accessors use the model's backing data.
struct PersistedPropertyMacro: AccessorMacro, PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = persisted(declaration), let model = model(of: context) else { return [] }
        let (name, path, access) = (property.name, "\\\(model).\(property.spelling)", property.access(in: model))
        return [
            """
            @storageRestrictions(accesses: _$backingData, initializes: _\(raw: name))
            init(initialValue) {
                \(raw: access).write(initialValue, "\(raw: name)", to: _$backingData)
                _\(raw: name) = MoultData._Kept()
            }
            """,
            """
            get {
                _$observationRegistrar.access(self, keyPath: \(raw: path))
                return \(raw: access).read("\(raw: name)", of: _$backingData)
            }
            """,
            """
            set {
                _$observationRegistrar.withMutation(of: self, keyPath: \(raw: path)) {
                    \(raw: access).write(newValue, "\(raw: name)", to: _$backingData)
                }
                _$backingData._wasWritten(by: self)
            }
            """,
        ]
    }

    /// Returns a constant with the property's accessor, selected once, and a property of size zero. Every initialiser
    /// has to set the latter, so that the compiler still requires a value for every property.
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let property = persisted(declaration), let model = model(of: context) else { return [] }
        return [
            "private static let \(raw: property.choiceName) = \(raw: property.choice(in: model))",
            "private var _\(raw: property.name): MoultData._Kept",
        ]
    }

    private static func model(of context: some MacroExpansionContext) -> String? {
        context.lexicalContext.first?.as(ClassDeclSyntax.self)?.name.text
    }

    private static func persisted(_ declaration: some DeclSyntaxProtocol) -> PersistedProperty? {
        declaration.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init)
    }
}
