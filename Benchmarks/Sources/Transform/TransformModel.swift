import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore

/// The model of the group "transform": orders, and what becomes of them by an app's own code.
enum TransformModel {
    static let entity = "Order"

    private static let kept: [AttributeDescription] = [
        AttributeDescription(name: "discount", type: .double, isOptional: false, defaultValue: .double(0)),
        AttributeDescription(name: "note", type: .string), AttributeDescription(name: "placedAt", type: .date),
        AttributeDescription(name: "price", type: .double, isOptional: false, defaultValue: .double(0)),
        AttributeDescription(name: "quantity", type: .integer32, isOptional: false, defaultValue: .integer(0)),
    ]
    private static let place = [text("city"), text("street")]

    private static func text(_ name: String) -> AttributeDescription { AttributeDescription(name: name, type: .string) }

    private static func version(_ name: String, _ attributes: [AttributeDescription]) throws -> ModelVersion {
        try ModelVersion(
            names: [name],
            model: ManagedObjectModel(entities: [EntityDescription(name: entity, attributes: attributes)]))
    }

    static func first() throws -> ModelVersion { try version("V1", kept + place + [text("customer")]) }

    /// Two columns become one.
    static func joined() throws -> ModelVersion { try version("V2", kept + [text("address"), text("customer")]) }

    /// A name becomes two, and a total is computed.
    static func split() throws -> ModelVersion {
        try version(
            "V2",
            kept + place + [text("first"), text("last"), AttributeDescription(name: "total", type: .double)])
    }

    /// The address in one, the name in two, and what a search looks for.
    static func searchable() throws -> ModelVersion {
        try version("V2", kept + [text("address"), text("customer"), text("first"), text("last"), text("search")])
    }

    // MARK: - Mappings

    /// The address as a closure over the two columns of its parts.
    static func joining() throws -> MappingModel {
        var order = EntityMapping(from: entity, to: entity)
        order.attributeMappings = [address]
        return try MappingModel([order]).completed(from: first(), to: joined())
    }

    private static var address: PropertyMapping {
        PropertyMapping("address", from: "street", "city") {
            (street: consuming String?, city: consuming String?) -> String? in
            guard var address = consume street, let city = consume city else { return nil }
            address += ", "
            address += city
            return address
        }
    }

    /// Four closures for each row: the address, both parts of the name, and the words of an order in lower case.
    static func indexing() throws -> MappingModel {
        var order = EntityMapping(from: entity, to: entity)
        order.attributeMappings = [
            address,
            PropertyMapping("first", from: "customer") { (name: String?) in name.map { split($0).first } },
            PropertyMapping("last", from: "customer") { (name: String?) in name.map { split($0).last } },
            PropertyMapping("search", from: "customer", "note") { (customer: String?, note: String?) in
                let words = "\(customer ?? "") \(note ?? "")".lowercased().split(separator: " ")
                return Set(words).sorted().joined(separator: " ")
            },
        ]
        return try MappingModel([order]).completed(from: first(), to: searchable())
    }

    /// A total as an expression, and the parts of a name left empty.
    static func computing() throws -> MappingModel {
        var order = EntityMapping(from: entity, to: entity)
        order.attributeMappings = [try PropertyMapping("total", "$source.price * $source.quantity")]
        return try MappingModel([order]).completed(from: first(), to: split())
    }

    static let policy = "OrderPolicy"

    static func splitting() throws -> MappingModel {
        let order = EntityMapping(from: entity, to: entity, entityMigrationPolicyClassName: policy)
        return try MappingModel([order]).completed(from: first(), to: split())
    }

    /// First and last name: the last word is the last name, all before it the first.
    static func split(_ name: String) -> (first: String, last: String) {
        guard let space = name.utf8.lastIndex(of: 0x20) else { return ("", name) }
        return (String(name[..<space]), String(name[name.utf8.index(after: space)...]))
    }

    // MARK: - Rows

    /// A store of the first version with so many orders.
    static func makeStore(at path: String, rows: Int) throws {
        let maker = try StoreCreator(first())
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout, speed: .reckless)
        let names = ["city", "customer", "discount", "note", "placedAt", "price", "quantity", "street"]
        let inserter = try writer.inserter(entity, names)
        for row in 0..<rows { try inserter.insert(values(row).map(PropertyValue.attribute)) }
        try writer.finish()
    }

    private static func values(_ row: Int) -> [AttributeValue?] {
        [
            .string("City \(row * 7919 % 500)"), .string("First\(row % 700) Middle Last\(row * 31 % 900)"),
            .double(Double(row % 10) / 100),
            row.isMultiple(of: 3) ? .string("A note of some words about order \(row)") : nil,
            .date(Double(row * 104_729 % 1_000_000_000)), .double(Double(row * 31 % 1_000_000) / 7),
            .integer(Int64(row % 17 + 1)), .string("Street of the \(row % 3000) swifts, \(row % 90)"),
        ]
    }
}
