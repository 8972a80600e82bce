import Moult
import MoultBasics
import MoultModel

/// A list of an entity's objects as its address describes it: what to find, in which order, with which columns.
struct ListQuery: Sendable, Hashable {
    var entity: String
    /// A string or a number to find in any attribute.
    var find: String
    /// A predicate in Core Data's format.
    var format: String
    var filters: [ColumnFilter]
    /// Nil for the order of the keys.
    var order: ObjectOrder?
    /// The names of the columns to show; empty for all.
    var columns: [String]
    /// Whether to show columns that are empty on the page.
    var showsEmpty: Bool
    /// Whether to count the matches however long it takes.
    var countsAll: Bool

    /// - Throws: `usage` for an operator that there is not.
    init(_ request: Request) throws {
        entity = request.query["entity"] ?? ""
        find = request.query["find"] ?? ""
        format = request.query["where"] ?? ""
        columns = request.all("column").filter { !$0.isEmpty }
        showsEmpty = request.query["empty"] == "show"
        countsAll = request.query["count"] == "all"
        order = request.query["sort"].flatMap {
            $0.isEmpty ? nil : ObjectOrder($0, isDescending: request.query["order"] == "descending")
        }
        let (operators, values) = (request.all("is"), request.all("value"))
        filters = try request.all("on").enumerated().compactMap { place, column in
            guard !column.isEmpty else { return nil }
            let name = place < operators.count ? operators[place] : ColumnFilter.Operator.equal.rawValue
            guard let `operator` = ColumnFilter.Operator(rawValue: name) else {
                throw MigrationError(
                    .usage, "There is no operator \(name).", place: column, remedy: "Choose one in the form.")
            }
            return ColumnFilter(column, `operator`, place < values.count ? values[place] : "")
        }
    }

    /// Whether the list has a part of the objects only.
    var isSelective: Bool { !find.isEmpty || !format.isEmpty || !filters.isEmpty }

    /// Returns the address of the list, or of a file with the same objects.
    ///
    /// - Parameter place: the place of the page, next to the object with a key.
    func address(_ path: String = "/objects", at place: PagePlace<Int64> = .first) -> String {
        MoultTools.address(path, fields + place.fields { [($0, String($1))] })
    }

    /// The fields of the address.
    var fields: [(String, String)] {
        var fields = [("entity", entity)]
        if !find.isEmpty { fields.append(("find", find)) }
        if !format.isEmpty { fields.append(("where", format)) }
        for filter in filters {
            fields += [("on", filter.column), ("is", filter.operator.rawValue), ("value", filter.value)]
        }
        return fields + orderFields + columns.map { ("column", $0) } + (showsEmpty ? [("empty", "show")] : [])
    }

    /// The fields that a form does not have itself.
    var orderFields: [(String, String)] {
        guard let order else { return [] }
        return [("sort", order.column)] + (order.isDescending ? [("order", "descending")] : [])
    }

    /// Returns the query changed.
    func with(_ change: (inout ListQuery) -> Void) -> ListQuery {
        var query = self
        change(&query)
        return query
    }

    /// Returns the query with another order: by a column, and descending if it is sorted by it already.
    func sorted(by column: String) -> ListQuery {
        with { query in
            let isAscending = (order ?? ObjectOrder("Z_PK")) == ObjectOrder(column)
            query.order = isAscending ? ObjectOrder(column, isDescending: true) : ObjectOrder(column)
            if query.order == ObjectOrder("Z_PK") { query.order = nil }
        }
    }

    // MARK: - The objects

    /// Returns the predicate for everything that is asked for; nil for all objects.
    ///
    /// - Throws: `invalidPredicate`; `usage` for a filter that does not fit its property.
    func predicate(_ reader: ObjectReader) throws -> MoultModel.Predicate? {
        var parts: [MoultModel.Predicate] = []
        if !format.isEmpty { parts.append(try MoultModel.Predicate(parsing: format)) }
        let whole = try reader.entity(entity)
        for filter in filters { parts.append(try reader.predicate(filter, of: whole)) }
        if !find.isEmpty, let model = reader.contents.layout?.model, let entity = model.entity(entity) {
            let any: [MoultModel.Predicate] = model.storedAttributes(of: entity).compactMap { stored in
                let path = Expression.keyPath(stored.name)
                switch stored.description.type {
                case .string:
                    return .comparison(
                        .init(path, .contains, .constant(.string(find)), options: ObjectReader.loose))
                case .integer16, .integer32, .integer64:
                    return Int64(find).map { .comparison(.init(path, .equal, .constant(.integer($0)))) }
                default: return nil
                }
            }
            parts.append(any.isEmpty ? .constant(false) : .or(any))
        }
        return parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
    }

    /// Returns the columns to show: the chosen ones, or all except the key and the names of entities that are the same
    /// everywhere.
    ///
    /// - Throws: `usage` for a column that the entity does not have.
    func shown(of entity: EntityContents) throws -> [EntityContents.Column] {
        let all = Self.choices(of: entity)
        guard !columns.isEmpty else { return all.filter { !$0.isBytes } + all.filter(\.isBytes) }
        return try columns.map { name in
            guard let column = all.first(where: { $0.name == name }) else {
                throw MigrationError(
                    .usage, "\(entity.name) has no column \(name).", place: entity.name,
                    remedy: "Choose from: \(all.map(\.name).joined(separator: ", ")).")
            }
            return column
        }
    }

    /// Returns the columns that a list can show.
    static func choices(of entity: EntityContents) -> [EntityContents.Column] {
        entity.columns.filter { column in
            switch column.source {
            case .key, .toOneEntity: false
            case .entity(let names): names.count > 1
            case .attribute, .toOne, .raw: true
            }
        }
    }
}

extension EntityContents.Column {
    /// Whether the values are binary. A list shows such columns last.
    var isBytes: Bool {
        guard case .attribute(_, let type, _) = source else { return false }
        return type == .binary || type == .transformable
    }
}
