import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A class with `@Model`, as far as its source code shows.
struct ModelDeclaration {
    let syntax: ClassDeclSyntax
    let properties: [PersistedProperty]
    /// The argument lists of `#Unique` and `#Index`.
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

    /// Whether a property may be a relationship, as far as the source shows.
    var mayLeadToModels: Bool { properties.contains { $0.relationship != nil || $0.mayBeModel } }

    /// Returns the source location of the class and its properties as an expression; nil for source without a file.
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

    /// The first inherited type, which is the superclass if there is one.
    var parent: TypeSyntax? { syntax.inheritanceClause?.inheritedTypes.first?.type }

    /// Returns the access modifier for a member that the macro adds, which makes it as visible as the class.
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

    /// Reports everything that cannot be persisted, each at its own location, and a class that needs an initialiser but
    /// has none.
    func check(isSubclass: Bool, in context: some MacroExpansionContext) {
        for case let variable? in syntax.memberBlock.members.map({ $0.decl.as(VariableDeclSyntax.self) }) {
            if let found = Self.fault(of: variable) { context.diagnose(found) }
        }
        reportInverses(in: context)
        reportConstraints(in: context)
        if needsInitializer(isSubclass: isSubclass) {
            context.diagnose(Diagnostic(node: syntax.name, message: ModelDiagnostic.noInitializer(model: name)))
        }
    }

    /// Whether the class needs an initialiser. Without stored properties of its own, it inherits those of its
    /// superclass.
    private func needsInitializer(isSubclass: Bool) -> Bool { !hasInitializer && !(isSubclass && properties.isEmpty) }

    private static func fault(of variable: VariableDeclSyntax) -> Diagnostic? {
        guard variable.isInstanceStored, let binding = variable.bindings.first else { return nil }
        let property = binding.pattern.trimmedDescription
        if let transient = variable.attribute(named: "Transient") {
            guard binding.initializer == nil, !binding.startsAsNil else { return nil }
            return Diagnostic(node: transient, message: ModelDiagnostic.transientWithoutValue(property: property))
        }
        if variable.bindingSpecifier.tokenKind == .keyword(.let), binding.initializer != nil {
            return Diagnostic(
                node: variable.bindingSpecifier, message: ModelDiagnostic.constant(property: property),
                fixIt: .replace(
                    message: ModelFix(message: "declare it as var"), oldNode: variable.bindingSpecifier,
                    newNode: TokenSyntax.keyword(.var, trailingTrivia: .space)))
        }
        if property == "description" {
            return Diagnostic(node: binding.pattern, message: ModelDiagnostic.reservedName(property: property))
        }
        if variable.has(.lazy) { return Diagnostic(node: binding, message: ModelDiagnostic.lazy(property: property)) }
        if variable.bindings.count > 1 { return Diagnostic(node: variable, message: ModelDiagnostic.severalBindings) }
        if variable.hasObservers {
            return Diagnostic(node: binding, message: ModelDiagnostic.observers(property: property))
        }
        if variable.attribute(named: "Attribute") != nil, let both = variable.attribute(named: "Relationship") {
            return Diagnostic(node: both, message: ModelDiagnostic.attributeAndRelationship(property: property))
        }
        return nil
    }

    /// Reports two relationships of one class that declare each other as inverses. Across two classes, the compiler
    /// reports it: each key path depends on the other.
    private func reportInverses(in context: some MacroExpansionContext) {
        for property in properties {
            guard let named = inverse(of: property), let other = properties.first(where: { $0.name == named }),
                inverse(of: other) == property.name, let place = property.relationship, property.name <= other.name
            else { continue }
            context.diagnose(
                Diagnostic(
                    node: place,
                    message: ModelDiagnostic.inverseOnBothSides(property: property.name, inverse: other.name)))
        }
    }

    /// Returns the property of this class that a relationship declares as its inverse.
    private func inverse(of property: PersistedProperty) -> String? {
        let arguments = property.relationship?.arguments?.as(LabeledExprListSyntax.self)
        guard
            let path = arguments?.first(where: { $0.label?.text == "inverse" })?.expression.as(KeyPathExprSyntax.self),
            path.root?.trimmedDescription == name, path.components.count == 1
        else { return nil }
        return path.components.first?.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.text
    }

    private func reportConstraints(in context: some MacroExpansionContext) {
        for (macro, lists) in [("Unique", uniqueness), ("Index", indices)] {
            for argument in lists.joined() where argument.keyPathList == nil {
                context.diagnose(
                    Diagnostic(node: argument, message: ModelDiagnostic.constraintNotOfKeyPaths(macro: macro)))
            }
        }
    }
}

extension PatternBindingSyntax {
    /// Whether the property is implicitly nil at first: `Int?` and `Int!`.
    fileprivate var startsAsNil: Bool {
        typeAnnotation?.type.is(OptionalTypeSyntax.self) ?? false
            || typeAnnotation?.type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) ?? false
    }
}

extension LabeledExprSyntax {
    /// The list of key paths in `[\.a, \.b]`, `.binary([\.a])` and `.rtree([\.a])`.
    var keyPathList: [KeyPathExprSyntax]? {
        let call = expression.as(FunctionCallExprSyntax.self)
        let list = (call?.arguments.first?.expression ?? expression).as(ArrayExprSyntax.self)
        guard let list, !list.elements.isEmpty else { return nil }
        let paths = list.elements.compactMap { $0.expression.as(KeyPathExprSyntax.self) }
        return paths.count == list.elements.count ? paths : nil
    }
}

/// The diagnostics of `@Model` and its companion macros, each with a sentence that says how to fix the problem.
enum ModelDiagnostic: DiagnosticMessage {
    case notAClass(kind: String)
    case notAnActor
    case noInitializer(model: String)
    case constant(property: String)
    case lazy(property: String)
    case observers(property: String)
    case reservedName(property: String)
    case severalBindings
    case transientWithoutValue(property: String)
    case attributeAndRelationship(property: String)
    case inverseOnBothSides(property: String, inverse: String)
    case constraintNotOfKeyPaths(macro: String)

    /// A warning where SwiftData compiles the code but ignores it: it never calls observers, and does not store such a
    /// constant.
    var severity: DiagnosticSeverity {
        switch self {
        case .observers, .constant: .warning
        default: .error
        }
    }

    var diagnosticID: MessageID { MessageID(domain: "MoultData", id: "\(self)".prefix { $0 != "(" }.description) }

    var message: String {
        switch self {
        case .notAClass(let kind):
            "@Model can only be applied to a class, not to '\(kind)': only a class has an identity that a store can keep"
        case .notAnActor:
            "@ModelActor can only be applied to an actor: only an actor's work runs one piece after the other"
        case .noInitializer(let model):
            "@Model requires an initializer be provided for '\(model)'"
        case .constant(let property):
            "'\(property)' is a let with a value, which no store keeps: declare it as var, or mark it @Transient"
        case .lazy(let property):
            "'\(property)' is lazy, which a store cannot fill: give it a plain value, or mark it @Transient"
        case .observers(let property):
            "'\(property)' has willSet or didSet, which a persisted property never calls: do the work in a method, "
                + "observe the model, or mark the property @Transient"
        case .reservedName(let property):
            "A stored property cannot be named '\(property)', which is Core Data's: take another name, and "
                + "@Attribute(originalName: \"\(property)\") where a store has it already"
        case .severalBindings:
            "A persisted property needs a declaration of its own"
        case .transientWithoutValue(let property):
            "@Transient property '\(property)' needs a default value, which objects read from a store begin with"
        case .attributeAndRelationship(let property):
            "'\(property)' is marked both @Attribute and @Relationship: a property is one or the other"
        case .inverseOnBothSides(let property, let inverse):
            "'\(property)' and '\(inverse)' each name the other as inverse: name it on one side, the other follows"
        case .constraintNotOfKeyPaths(let macro):
            "#\(macro) takes lists of key paths, such as #\(macro)<Item>([\\.name], [\\.shelf, \\.position])"
        }
    }
}

/// A fix that an editor offers.
struct ModelFix: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "MoultData", id: message) }
}
