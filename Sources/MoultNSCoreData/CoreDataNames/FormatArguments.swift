// swift-format-ignore-file: AvoidRetroactiveConformances
import Foundation
import MoultCoreData
import MoultModel

/// An object that Core Data passes to a format. On Apple's platforms Foundation makes these types `CVarArg`; here this
/// module does, so that `id as CVarArg` is the same source on both.
public protocol _FormatObject: _CVarArgObject {}

extension _FormatObject {
    /// The value's description, as `String(format:)` prints it.
    public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }
    /// Nothing: the object above is encoded in its place.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSUUID: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSDate: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSURL: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSData: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSNumber: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSArray: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSSet: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSOrderedSet: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSDictionary: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSNull: @retroactive CVarArg, @retroactive _CVarArgObject, _FormatObject {}
extension NSManagedObject: _FormatObject {}
extension NSManagedObjectID: _FormatObject {}
extension NSEntityDescription: _FormatObject {}
extension NSExpression: _FormatObject {}

/// Returns the arguments for the placeholders of a format: expressions and values. Arguments that are left over are
/// ignored, as in Foundation; such are those for a placeholder in quotation marks.
func formatArguments(_ arguments: [Any?], for format: String) throws -> [FormatArgument] {
    arguments.prefix(try FormatArgument.count(in: format)).map { argument in
        if let expression = argument as? NSExpression { return .expression(expression.expression) }
        if let list = argument as? [Any], list.contains(where: { $0 is NSExpression }) {
            return .expression(.aggregate(list.map(expressionPart)))
        }
        return .value(predicateValue(argument))
    }
}

/// Converts the constant of an expression. A value that no attribute can have equals only values that are equal to it.
func predicateValue(_ value: Any?) -> ExpressionValue {
    if let known = try? expressionValue(value, elements: predicateValue) { return known }
    guard let value else { return .null }
    let wrapped = Mirror(reflecting: value)
    if wrapped.displayStyle == .optional { return wrapped.children.first.map { predicateValue($0.value) } ?? .null }
    return opaqueValue(value)
}

/// Returns an identity in place of a value that only its own `==` can compare.
func opaqueValue(_ value: Any) -> ExpressionValue {
    let number = (value as? AnyHashable)?.hashValue ?? 0
    return .object(ObjectID(temporary: Int64(number), entityName: "\(type(of: value))"))
}
