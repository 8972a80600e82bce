@_spi(Reflection) import Swift

/// The stored properties of a struct, as Swift's metadata has them.
enum StructFields {
    struct Field {
        let name: String
        let type: Any.Type
        /// In bytes.
        let offset: Int
    }

    /// In the order of declaration; nil for any other type.
    static func of(_ type: Any.Type) -> [Field]? {
        guard MetadataKind.of(type) == .struct else { return nil }
        var fields: [Field] = []
        let isWhole = _forEachField(of: type) { name, offset, type, _ in
            fields.append(Field(name: String(cString: name), type: type, offset: offset))
            return true
        }
        return isWhole ? fields : nil
    }

    /// The stored property behind a key path of one step; nil for a computed one.
    static func name<Root>(of keyPath: PartialKeyPath<Root>) -> String? {
        guard let offset = MemoryLayout<Root>.offset(of: keyPath) else { return nil }
        let type = type(of: keyPath).valueType
        return of(Root.self)?.first { $0.offset == offset && $0.type == type }?.name
    }
}
