import MoultModel
import MoultObjects

// Most models have something to show whatever their rows hold (StandIn). One with a required property of a type that can
// be made of nothing has not: such an object is handed out when its row was found to be whole, with all that it leads
// to and may not be without.

extension ModelGraph {
    /// Whether an object, and what it has to lead to, has something to show for each property.
    func isShowable(_ object: Object) -> Bool {
        if stack.hasStandIns { return true }
        var seen: Set<ObjectID> = []
        return isShowable(object, &seen)
    }

    private func isShowable(_ object: Object, _ seen: inout Set<ObjectID>) -> Bool {
        let id = object.id
        guard !id.isTemporary, seen.insert(id).inserted else { return true }
        guard let binding = try? binding(object.entityName) else { return false }
        guard (try? objects.existingObject(with: id)) != nil else { return isShowableWithoutRow(binding.type) }
        guard let destinations = object.withValues({ values, _ in requiredDestinations(values, binding) }) else {
            return false
        }
        return destinations.allSatisfy { id in (try? objects.object(with: id)).map { isShowable($0, &seen) } ?? false }
    }

    /// Returns the destinations that an object may not be without; nil if one of its own values has nothing to show.
    private func requiredDestinations(_ values: PositionedValues, _ binding: ModelBinding) -> [ObjectID]? {
        var destinations: [ObjectID] = []
        for demand in binding.demands where demand.isRequired {
            guard let property = binding.properties[demand.position] else { continue }
            if case .toOne(let type, _) = property.shape {
                if case .toOne(let id?)? = values[demand.position] {
                    destinations.append(id)
                } else if !isShowableWithoutRow(type) {
                    return nil
                }
            } else if !binding.isMet(demand, by: values), !property.hasStandIn() {
                return nil
            }
        }
        return destinations
    }

    /// Whether a model that stands for an object has something to show.
    private func isShowableWithoutRow(_ type: any PersistentModel.Type) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        return isShowableWithoutRow(type, &seen)
    }

    private func isShowableWithoutRow(_ type: any PersistentModel.Type, _ seen: inout Set<ObjectIdentifier>) -> Bool {
        guard seen.insert(ObjectIdentifier(type)).inserted else { return true }
        guard let binding = try? stack.binding(type), binding.hasStandIns else { return false }
        return binding.demands.allSatisfy { demand in
            guard demand.isRequired, case .toOne(let next, _)? = binding.properties[demand.position]?.shape else {
                return true
            }
            return isShowableWithoutRow(next, &seen)
        }
    }

    /// The model of an object that a property leads to; nil if it cannot be shown.
    func shown(_ object: Object) throws -> (any PersistentModel)? {
        isShowable(object) ? try model(for: object) : nil
    }
}
