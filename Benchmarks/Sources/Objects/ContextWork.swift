import MoultBasics

/// The work of a group of objects, done through the contexts of one API.
protocol ContextWork {
    /// The values of a new object.
    associatedtype Values

    var rows: Int { get }

    /// Returns the values of the object with a number.
    static func values(_ number: Int) -> Values

    func insert(_ given: [Values]) throws
    func fetch() throws
    func lookup() throws
    func scan() throws
    func update() throws
    func toOne(ahead: Bool) throws
    func toMany() throws
}

extension ContextWork {
    /// Does one piece of work, and prints its seconds alone and the peak memory.
    func show(_ work: String) throws {
        let given = work == "insert" ? (0..<rows).map(Self.values) : []
        try ChildWork.show {
            switch work {
            case "insert": try insert(given)
            case "fetch": try fetch()
            case "lookup": try lookup()
            case "scan": try scan()
            case "update": try update()
            case "to_one": try toOne(ahead: false)
            case "to_one_ahead": try toOne(ahead: true)
            case "to_many": try toMany()
            default: throw MigrationError(.usage, "There is no work \(work).", remedy: "See ContextWork.")
            }
        }
    }
}
