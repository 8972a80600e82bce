import MoultModel

/// A value to show where a store has none that the type could be: zero, nothing, or the first of its values.
enum StandIn {
    /// Nil for a type that can be made of nothing, such as a class that decodes only what it has written.
    static func value<Value>(of type: Value.Type) -> Value? {
        (plain(type) ?? decoded(type)) as? Value ?? firstOfBits(type)
    }

    private static func plain(_ type: Any.Type) -> Any? {
        if let type = type as? any PersistentValue.Type { return type.valueForNull }
        if let type = type as? any CaseIterable.Type { return first(type) }
        return nil
    }

    private static func first<Value: CaseIterable>(_ type: Value.Type) -> Any? { type.allCases.first }

    private static func decoded(_ type: Any.Type) -> Any? {
        guard let type = type as? any Decodable.Type else { return nil }
        return try? BlankDecoder().decode(type)
    }

    /// The value whose bits are all zero, of a type that is nothing but bits: the first case of an enum.
    static func firstOfBits<Value>(_ type: Value.Type) -> Value? {
        guard _isPOD(type) else { return nil }
        let size = max(MemoryLayout<Value>.size, 1)
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: MemoryLayout<Value>.alignment) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.baseAddress?.load(as: Value.self)
        }
    }
}
