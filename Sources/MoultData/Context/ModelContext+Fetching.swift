import MoultModel
import MoultObjects

extension ModelContext {
    /// Every model of a class, subclasses included.
    package func models<Model: PersistentModel>(of type: Model.Type) throws -> [Model] {
        try graph.models(ObjectFetch(entityName: try graph.stack.binding(type).entityName), as: type)
    }
}
