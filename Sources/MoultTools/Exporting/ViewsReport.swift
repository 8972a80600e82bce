import MoultExport
import MoultModel
import MoultReport
import MoultStore

/// SQL views with the model's names over the tables of a store.
package struct ViewsReport: ToolAnswer {
    private let views: StoreViews
    /// The copy of the store with the views; nil if none was made.
    private let copy: String?

    /// - Parameter copy: the path for a copy of the store with the views; nil for none.
    /// - Throws: `usage` if the path is taken; what reading the store and writing the copy throws.
    package init(of store: String, versions: ModelVersions?, copy: String?) throws {
        views = try StoreProbe.read(store) { StoreViews(try StoreContents($0, in: versions)) }
        if let copy { try ReadableCopy(of: store, versions: versions).make(at: copy) }
        self.copy = copy
    }

    /// The script that makes the views for one connection.
    package var script: String { views.script }

    package var document: JSONValue {
        let views: [JSONValue] = views.views.map {
            [
                "name": .string($0.name), "meaning": .string($0.meaning), "columns": JSONValue($0.columns),
                "sql": .string($0.statement(isTemporary: true)),
            ]
        }
        return .object(
            [.init("format", 1), .init("views", .array(views))] + (copy.map { [.init("copy", .string($0))] } ?? []))
    }

    package func lines(style: TextStyle) -> [String] {
        copy.map {
            ["Made \($0.printable): a copy of the store with \(Quantity.count(views.views.count, "view"))."]
        } ?? []
    }
}
