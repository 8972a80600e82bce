extension Evaluation {
    func value(at path: String, of value: ExpressionValue) throws -> ExpressionValue {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return try self.value(at: [path], of: value) }
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return try self.value(at: names[...], of: value)
    }

    private func value(at names: ArraySlice<String>, of value: ExpressionValue) throws -> ExpressionValue {
        guard let name = names.first else { return value }
        if name.hasPrefix("@") { return try collect(name, names.dropFirst(), of: value) }
        if name.lowercased() == "self" { return try self.value(at: names.dropFirst(), of: value) }
        switch value {
        case .null:
            let rest = names.drop { !$0.hasPrefix("@") }
            return try rest.isEmpty ? .null : self.value(at: rest, of: .collection([]))
        case .object(let id):
            let (result, count) = try step(names, from: id)
            return try self.value(at: names.dropFirst(count), of: result)
        case .collection(let elements):
            let step = names.prefix { !$0.hasPrefix("@") }
            var results: [ExpressionValue] = []
            for element in elements {
                let result = try self.value(at: step, of: element)
                if case .collection(let inner) = result { results += inner } else { results.append(result) }
            }
            return try self.value(at: names.dropFirst(step.count), of: .collection(results))
        // Validation predicates that Core Data makes of a text's limits ask for it.
        case .string(let text) where name == "length":
            return try self.value(at: names.dropFirst(), of: .integer(Int64(text.utf16.count)))
        default:
            throw MigrationError.predicate(
                "\(value.kind.name.capitalized) has no key \(name).", place: names.joined(separator: "."),
                remedy: "End the key path before it.")
        }
    }

    /// The value of the first name, and how many names it took: more than one inside a composite attribute.
    private func step(_ names: ArraySlice<String>, from id: ObjectID) throws -> (ExpressionValue, Int) {
        var key = ""
        for (index, name) in names.enumerated() {
            if index == 0 {
                if name == "objectID" { return (.object(id), 1) }
                if name == "entity" { return (.string(id.entityName), names.dropFirst().first == "name" ? 2 : 1) }
            }
            key += (index == 0 ? "" : ".") + name
            if !objects.isComposite(key, of: id) { return (try objects.value(key, of: id), index + 1) }
        }
        throw MigrationError.predicate(
            "\(key) of \(id.entityName) is a composite attribute, which has no value of its own.", place: key,
            remedy: "Name one of its elements, such as \(key).name.")
    }

    /// A collection operator, with the path that stands behind it.
    private func collect(
        _ name: String, _ rest: ArraySlice<String>, of value: ExpressionValue
    ) throws -> ExpressionValue {
        let place = ([name] + rest).joined(separator: ".")
        guard let collector = CollectionOperator(rawValue: name) else {
            throw MigrationError.predicate(
                "There is no collection operator \(name).", place: place,
                remedy: "Use one of \(CollectionOperator.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        switch value {
        case .null, .collection: break
        default:
            throw MigrationError.predicate(
                "\(name) follows \(value.kind.name), which is not a collection.", place: place,
                remedy: "Put it after a to-many relationship.")
        }
        do throws(MigrationError) {
            guard collector.takesPath else {
                guard rest.isEmpty else { throw .predicate("Nothing can follow \(name).") }
                return try collector.value(of: value.elements)
            }
        } catch {
            throw error.at(place)
        }
        let operands = try self.value(at: rest, of: .collection(value.elements))
        do throws(MigrationError) {
            return try collector.value(of: operands.elements)
        } catch {
            throw error.at(place)
        }
    }
}

extension String {
    /// With an upper case letter at the beginning.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
