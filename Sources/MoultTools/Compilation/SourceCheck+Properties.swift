import MoultBasics
import MoultModel
import MoultModelFiles

extension SourceCheck {
    /// Checks the properties of an entity or of a composite attribute's type.
    mutating func check(propertiesOf owner: ModelElement, kind: String) {
        let own = owner.properties
        let name = owner.name.isEmpty ? "An \(kind) without a name" : owner.name
        checkNames(own, kind: "property", areIdentifiers: true, in: name)
        let above = kind == "entity" ? lineage(of: owner.name).names.dropFirst().first : nil
        for property in own where !property.name.isEmpty {
            let place = "\(name).\(property.name)"
            if let above, self.property(property.name, of: above) != nil {
                fail(property, "\(place) has the name of a property that \(name) inherits.")
            }
            switch property.node.name {
            case "attribute": check(attribute: property, place)
            case "relationship": check(relationship: property, place)
            default: check(fetchedProperty: property, place)
            }
        }
    }

    // MARK: Attributes

    private mutating func check(attribute: ModelElement, _ place: String) {
        let isDerived = attribute.isOn(.derived)
        if let word = attribute.text(.attributeType) {
            if AttributeType(name: word) == nil {
                fail(attribute, "\(place) has the type \(word), which is not one of Core Data's.")
            }
        } else if !attribute.isOn(.transient), attribute.text(.composite) == nil {
            fail(attribute, "\(place) has no type.")
        }
        if let composite = attribute.text(.composite) {
            if composites[composite] == nil {
                fail(attribute, "The composite attribute \(composite) of \(place) is not in the model.")
            } else if leadsBack(composite) {
                fail(attribute, "The composite attribute \(composite) of \(place) contains itself.")
            }
        }
        guard isDerived else { return }
        guard let expression = attribute.text(.derivationExpression) else {
            return fail(attribute, "\(place) is derived and has no derivation expression.")
        }
        check(expression: expression, of: attribute, called: "The derivation expression of \(place)")
        check(
            predicate: attribute.text(.filteringPredicate), of: attribute, called: "The filtering predicate of \(place)"
        )
    }

    /// Whether a composite attribute's type contains itself.
    private func leadsBack(_ composite: String) -> Bool {
        var seen: Set<String> = []
        var waiting = [composite]
        while let name = waiting.popLast() {
            let inner = composites[name]?.properties.compactMap { $0.text(.composite) } ?? []
            if inner.contains(composite) { return true }
            waiting += inner.filter { seen.insert($0).inserted }
        }
        return false
    }

    // MARK: Relationships

    private mutating func check(relationship: ModelElement, _ place: String) {
        let most = relationship.text(.maxCount).flatMap { Int($0) } ?? (relationship.isOn(.toMany) ? 0 : 1)
        let least = relationship.text(.minCount).flatMap { Int($0) } ?? 0
        if most > 0, least > most {
            fail(
                relationship,
                "\(place) must have at least \(Quantity.count(least, "destination")) and may have at most \(most).")
        }
        if relationship.text(.deletionRule) == DeleteRule.noAction.name {
            warn(
                relationship, .deleteRule,
                "\(place) has the delete rule No Action, which can leave references to deleted objects.")
        }
        guard let destination = relationship.text(.destinationEntity) else {
            return fail(relationship, "\(place) has no destination.")
        }
        guard entities[destination] != nil else {
            return fail(relationship, "The destination \(destination) of \(place) is not in the model.", .reference)
        }
        check(inverseOf: relationship, place, destination: destination)
    }

    private mutating func check(inverseOf relationship: ModelElement, _ place: String, destination: String) {
        guard let name = relationship.text(.inverseName) else {
            if !relationship.isOn(.transient) {
                warn(relationship, .missingInverse, "\(place) should have an inverse.")
            }
            return
        }
        guard let inverse = property(name, of: destination), inverse.node.name == "relationship" else {
            return fail(
                relationship, "The inverse \(name) of \(place) is not a relationship of \(destination).", .reference)
        }
        guard let back = inverse.text(.inverseName), back != relationship.name else { return }
        fail(relationship, "\(place) names \(destination).\(name) as its inverse, which names \(back) as its own.")
    }

    // MARK: Fetch requests

    private mutating func check(fetchedProperty property: ModelElement, _ place: String) {
        guard let request = property.children("fetchRequest").first else {
            return fail(property, "The fetched property \(place) has no fetch request.")
        }
        check(fetchRequest: request, called: "The fetched property \(place)")
    }

    mutating func check(fetchRequest request: ModelElement, called what: String) {
        check(reference: request, toEntity: request.text(.entity), from: what)
        let predicate = "The predicate of \(what.lowercasedFirst)"
        check(predicate: request.text(.predicateString), of: request, called: predicate)
    }
}

extension ModelElement {
    fileprivate func isOn(_ key: ModelKey) -> Bool { text(key).flatMap(Bool.init(modelFileText:)) ?? false }
}
