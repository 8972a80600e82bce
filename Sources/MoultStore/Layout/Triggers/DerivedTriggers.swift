import MoultModel

/// The triggers that keep derived attributes up to date, for the known derivations: a count over a to-many
/// relationship, a value through a to-one relationship, and the time of the last change. Any other derivation has no
/// trigger, and a finding says so.
struct DerivedTriggers {
    private(set) var triggers: [TriggerDefinition] = []
    private(set) var findings: [Finding] = []

    init(of layout: StoreLayout, numbering: EntityNumbering) {
        for entity in numbering.entities {
            for attribute in entity.attributes where attribute.isStored {
                guard let derivation = attribute.derivation else { continue }
                add(derivation, of: attribute, in: entity, layout)
            }
        }
    }

    private mutating func add(
        _ derivation: AttributeDescription.Derivation, of attribute: AttributeDescription,
        in entity: EntityDescription, _ layout: StoreLayout
    ) {
        guard let derived = DerivedColumn(attribute, in: entity, layout) else { return }
        guard derivation.filter == nil, let shape = DerivationShape(derivation.expression),
            let made = derived.triggers(for: shape)
        else {
            findings.append(
                Finding(
                    code: "derived-not-kept", severity: .warning, place: "\(entity.name).\(attribute.name)",
                    message:
                        "How Core Data keeps \(derivation.expression) up to date in a store is not publicly known; "
                        + "no trigger is made for it.",
                    remedy: "Core Data computes the value when an object is next saved; check it until then."))
            return
        }
        triggers += made
    }
}
