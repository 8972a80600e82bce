import MoultBasics
import MoultModel

/// The code that prevents or declares a loss.
package struct LossRemedy {
    private let loss: MigrationLoss
    private let pass: MigrationPass
    private let model: ManagedObjectModel

    package init(_ loss: MigrationLoss, of pass: MigrationPass, _ model: ManagedObjectModel) {
        (self.loss, self.pass, self.model) = (loss, pass, model)
    }

    package var advice: Remedy {
        "\(code) \(isCarriedByCode ? "Or" : "Then") accept the loss: \(permit: .loss(loss.place))."
    }

    /// Whether the code makes it unnecessary to accept the loss. The effect of code on whole objects is unknown.
    private var isCarriedByCode: Bool {
        loss.reason != .otherConfiguration && (loss.propertyName != nil || pass.style == .mapping)
    }

    private var code: String {
        let entity = loss.entityName
        guard let property = loss.propertyName else { return codeForObjects }
        if case .plan(let from, let to) = pass.style {
            return "Read the old value next to the new object: .transform(from: \(from).\(entity).self, to: "
                + "\(to).\(target).self) { old, new in new.\(property) = … old.\(property) … }."
        }
        if loss.isLeftToPolicy {
            return "Read the value in the policy: destination[\"\(property)\"] = … source[\"\(property)\"] …"
        }
        if pass.style == .handlers {
            return "Read the values in the stage's willMigrateHandler, which still has the old version: "
                + "object.value(forKey: \"\(property)\")."
        }
        guard loss.kind == .values else {
            return "Map the relationship: PropertyMapping(\"\(property)\", \"FUNCTION($manager, "
                + "\\\"destinationInstancesForSourceRelationshipNamed:sourceInstances:\\\", \\\"\(property)\\\", "
                + "$source.\(property))\")."
        }
        return "Map the value: PropertyMapping(\"\(property)\", from: \"\(property)\") { (old: \(type)?) in … }."
    }

    private var codeForObjects: String {
        let entity = loss.entityName
        if let copying = loss.copying { return copying }
        return switch pass.style {
        case .mapping:
            "Add an entity mapping that takes the objects: EntityMapping(from: \"\(entity)\", to: \"\(target)\")."
        case .handlers:
            "Copy what you need of the objects of \(entity) in the stage's willMigrateHandler, which still has the old "
                + "version."
        case .plan(let from, _):
            "Copy what you need of the objects in the stage's willMigrate, which still has the old version: "
                + "try context.fetch(FetchDescriptor<\(from).\(entity)>())."
        }
    }

    /// The entity that the objects become, or else the one of the same name.
    private var target: String {
        guard case .mapping(let mapping) = pass.work else { return loss.entityName }
        return mapping.mappings(fromEntity: loss.entityName).compactMap(\.destinationEntityName).first
            ?? loss.entityName
    }

    /// The Swift type of the old values.
    private var type: String {
        let attribute = loss.propertyName.flatMap { name in
            model.entity(loss.entityName).flatMap { model.attribute(name, of: $0) }
        }
        return switch attribute?.type {
        case .integer16, .integer32, .integer64: "Int"
        case .double, .float: "Double"
        case .decimal: "Decimal"
        case .boolean: "Bool"
        case .date: "Date"
        case .binary: "Data"
        case .uuid: "UUID"
        case .uri: "URL"
        default: "String"
        }
    }
}

extension MigrationLoss {
    /// Instructions to copy objects to the store that their entity belongs to in the new version; nil for any other
    /// loss.
    package var copying: String? {
        guard reason == .otherConfiguration else { return nil }
        return "Open the store with the model and the configuration that it has now, and copy the objects of "
            + "\(entityName) to the store \(detail.map { "of the configuration \($0)" } ?? "that is to have them")."
    }
}
