import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The errors of `@Model` and its companion macros, each with a sentence that says what to do.
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

    /// SwiftData compiles observers and never calls them; it compiles such a constant and does not keep it.
    var severity: DiagnosticSeverity {
        switch self {
        case .observers, .constant: .warning
        default: .error
        }
    }

    var diagnosticID: MessageID {
        MessageID(domain: "MoultData", id: "\(self)".prefix { $0 != "(" }.description)
    }

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
