import MoultBasics

/// One evaluation: the values of `SELF` and of the variables, and the source of the objects' values.
struct Evaluation<Objects: ObjectValues> {
    let subject: ExpressionValue
    var variables: [String: ExpressionValue]
    let objects: Objects

    // MARK: Conditions

    func holds(_ predicate: Predicate) throws -> Bool {
        switch predicate {
        case .constant(let value): value
        case .and(let parts): try parts.allSatisfy(holds)
        case .or(let parts): try parts.contains(where: holds)
        case .not(let part): try !holds(part)
        case .comparison(let comparison): try holds(comparison)
        }
    }

    private func holds(_ comparison: Predicate.Comparison) throws -> Bool {
        let left = try value(comparison.left)
        let right = try value(comparison.right)
        func test(_ element: ExpressionValue) throws(MigrationError) -> Bool {
            try comparison.operator.holds(element, right, comparison.options)
        }
        do throws(MigrationError) {
            switch comparison.modifier {
            case .direct: return try test(left)
            case .any:
                for element in left.elements where try test(element) { return true }
                return false
            case .all:
                for element in left.elements where try !test(element) { return false }
                return true
            }
        } catch {
            throw error.at(Predicate.comparison(comparison).format)
        }
    }

    // MARK: Values

    func value(_ expression: Expression) throws -> ExpressionValue {
        switch expression {
        case .constant(let value): return value
        case .evaluatedObject: return subject
        case .variable(let name):
            guard let value = variables[name] else {
                throw MigrationError.predicate(
                    "The variable $\(name) has no value.", place: expression.format,
                    remedy: "Give it one, or correct its name.")
            }
            return value
        case .keyPath(let path, let base): return try value(at: path, of: value(base))
        case .function(let selector, let arguments): return try call(selector, arguments, in: expression)
        case .message(let selector, let target, let arguments):
            return try send(selector, to: target, arguments, in: expression)
        case .aggregate(let elements): return .collection(try elements.map(value))
        case .subquery(let collection, let variable, let predicate):
            var inner = self
            return .collection(
                try value(collection).elements.filter { element in
                    inner.variables[variable] = element
                    return try inner.holds(predicate)
                })
        case .conditional(let predicate, let first, let second):
            return try value(try holds(predicate) ? first : second)
        }
    }

    private func call(
        _ selector: String, _ arguments: [Expression], in expression: Expression
    ) throws -> ExpressionValue {
        guard let function = ExpressionFunction(selector) else {
            throw MigrationError.predicate(
                "There is no function \(selector).", place: expression.format, remedy: "Correct its name.")
        }
        let values = try arguments.map(value)
        do throws(MigrationError) {
            return try function.value(values, now: objects.now)
        } catch {
            throw error.at(expression.format)
        }
    }

    /// `FUNCTION(object, "valueForKeyPath:", "a.b")` is the only message that every value understands; the other one is
    /// Moult's own (``Expression/object(_:ofEntities:)``).
    private func send(
        _ selector: String, to target: Expression, _ arguments: [Expression], in expression: Expression
    ) throws -> ExpressionValue {
        if selector == Expression.ofEntities, let list = arguments.first {
            let object = try value(target)
            guard case .object(let id) = object else { return .null }
            return try value(list).elements.contains(.string(id.entityName)) ? object : .null
        }
        guard ["valueForKey:", "valueForKeyPath:"].contains(selector), arguments.count == 1,
            case .string(let path) = try value(arguments[0])
        else {
            throw MigrationError.predicate(
                "\(selector) is not known here.", place: expression.format,
                remedy: "Use a function of the predicate format, such as uppercase:(name).")
        }
        return try value(at: path, of: value(target))
    }
}

extension ExpressionValue {
    /// The elements for `ANY`, `ALL`, `SUBQUERY` and collection operators: none for nil, and one for a single value.
    package var elements: [ExpressionValue] {
        switch self {
        case .collection(let elements): elements
        case .null: []
        default: [self]
        }
    }
}

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
        // Core Data's validation predicates for the length of a text use this key.
        case .string(let text) where name == "length":
            return try self.value(at: names.dropFirst(), of: .integer(Int64(text.utf16.count)))
        default:
            throw MigrationError.predicate(
                "\(value.kind.name.capitalizedFirst) has no key \(name).", place: names.joined(separator: "."),
                remedy: "End the key path before it.")
        }
    }

    /// Returns the value of the first name and the number of names used: more than one inside a composite attribute.
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

    /// Applies a collection operator to the path after it.
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

/// A source of objects' values for an evaluation: a context, a store, or a table in a test.
package protocol ObjectValues {
    /// Returns the value of a property: `.object` or `.null` for a to-one relationship, and a `.collection` of objects,
    /// in relationship order, for a to-many one.
    ///
    /// - Parameter key: the name of a property; for a value inside a composite attribute, the path that starts with the
    ///   composite's name, such as `address.city`.
    /// - Throws: `MigrationError` for a key that the object's entity does not have.
    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue

    /// Whether `key` is the name of a composite attribute of the object, or the path of a composite inside one.
    func isComposite(_ key: String, of object: ObjectID) -> Bool

    /// The value of `now()`: seconds since 2001-01-01 00:00:00 UTC. It should not change during an evaluation.
    var now: Double { get }
}

extension ObjectValues {
    package func isComposite(_ key: String, of object: ObjectID) -> Bool { false }
}

extension Predicate {
    /// Whether the predicate holds for an object, or for any other value of `SELF`.
    ///
    /// Predicates follow these rules, both here and in SQL:
    /// - **Logic is two-valued.** A comparison holds or does not, and `NOT` inverts it. Nil equals nil, so for a
    ///   missing x, `x == nil` and `x IN {nil}` hold, and so does `x != 1`. No other operator holds if a side is nil.
    /// - **Kinds.** Numbers are integers, reals, decimals, booleans (0 and 1) and dates (seconds); texts are strings
    ///   and URIs; bytes are data and UUIDs; then objects; then collections. Values of different kinds are not equal.
    ///   Ordering them (`<`, `BETWEEN` and so on) is an error, and so is a text operator with anything but texts.
    /// - **Numbers** compare by exact value, as SQLite compares INTEGER and REAL. A decimal has the value in its
    ///   DECIMAL column: an integer if it is one that fits, otherwise the nearest real. NaN is nil.
    /// - **Texts** are equal if their Unicode scalars are, and sort by them, which is the order of their UTF-8 bytes.
    ///   `[c]` and `[d]` fold both sides first (``Swift/String/folded(_:)``), `[n]` turns folding off, and `[l]` has no
    ///   effect, because there is no locale. No text contains, begins with or ends with the empty text.
    /// - **`LIKE` and `MATCHES`** apply to the whole text: ``LikePattern``, ``RegularExpression``.
    /// - **`IN` and `CONTAINS`** look for an equal element in a collection, or for a text in a text.
    /// - **Collections.** `ANY` holds if one element matches, and `ALL` if every element does; so for no elements `ALL`
    ///   holds and `ANY` does not. Nil counts as no elements, and any other single value as one. Without them, a
    ///   collection on the left is an error except for `CONTAINS`, and on the right except for `IN` and `BETWEEN`.
    ///
    /// - Parameters:
    ///   - subject: the value of `SELF`, and the start of key paths.
    ///   - variables: values by name, without `$`.
    /// - Throws: `MigrationError` with code `invalidPredicate` for an unknown key, function or variable and for values
    ///   that cannot be compared, with the part of the predicate as its place; also rethrows from `objects`.
    package func holds(
        for subject: ExpressionValue, variables: [String: ExpressionValue] = [:], in objects: some ObjectValues
    ) throws -> Bool {
        try Evaluation(subject: subject, variables: variables, objects: objects).holds(self)
    }
}

extension Expression {
    /// Returns the expression's value for an object, or for any other value of `SELF`.
    ///
    /// - **Key paths** through a to-one relationship give nil if it or anything on the way is nil. Through a to-many
    ///   one they give a collection with one value per object, including nil; several to-many relationships give one
    ///   flat collection. `objectID` is the object, and `entity` and `entity.name` are its entity's name.
    /// - **Collection operators** (`@count`, `@sum`, …) treat nil as no elements: ``Aggregate``.
    /// - **Arithmetic** is ``Arithmetic/value(_:_:)``, functions are ``ExpressionFunction``.
    /// - **`SUBQUERY`** keeps the elements that satisfy the predicate; in it, `SELF` is still the outer object.
    ///
    /// - Parameters:
    ///   - subject: the value of `SELF`, and the start of key paths.
    ///   - variables: values by name, without `$`.
    /// - Throws: see ``Predicate/holds(for:variables:in:)``.
    package func value(
        for subject: ExpressionValue, variables: [String: ExpressionValue] = [:], in objects: some ObjectValues
    ) throws -> ExpressionValue {
        try Evaluation(subject: subject, variables: variables, objects: objects).value(self)
    }
}

extension MigrationError {
    /// Returns the error for a predicate or expression that parses but cannot be evaluated.
    package static func predicate(
        _ message: String, place: String = "", remedy: String = "Correct the predicate."
    ) -> MigrationError {
        MigrationError(.invalidPredicate, message, place: place, remedy: remedy)
    }

    /// Returns the error with a place, if it has none yet.
    func at(_ place: @autoclosure () -> String) -> MigrationError {
        guard self.place.isEmpty else { return self }
        var error = self
        error.place = place()
        return error
    }
}
