import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

extension ModelDeclaration {
    /// Reports everything that cannot be persisted, each at its own place; false where the class has to have an
    /// initialiser and has none.
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

    /// A class without stored properties of its own inherits its parent's initialisers.
    private func needsInitializer(isSubclass: Bool) -> Bool {
        !hasInitializer && !(isSubclass && properties.isEmpty)
    }

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

    /// Two relationships of one class that name each other. (Of two classes, the compiler says it itself: each key path
    /// waits for the other.)
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

    /// The property of this class that a relationship names as its inverse.
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
    /// Whether it is nil until it is set: `Int?` and `Int!`.
    fileprivate var startsAsNil: Bool {
        typeAnnotation?.type.is(OptionalTypeSyntax.self) ?? false
            || typeAnnotation?.type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) ?? false
    }
}

extension LabeledExprSyntax {
    /// The list in `[\.a, \.b]`, `.binary([\.a])` and `.rtree([\.a])`.
    var keyPathList: [KeyPathExprSyntax]? {
        let call = expression.as(FunctionCallExprSyntax.self)
        let list = (call?.arguments.first?.expression ?? expression).as(ArrayExprSyntax.self)
        guard let list, !list.elements.isEmpty else { return nil }
        let paths = list.elements.compactMap { $0.expression.as(KeyPathExprSyntax.self) }
        return paths.count == list.elements.count ? paths : nil
    }
}
