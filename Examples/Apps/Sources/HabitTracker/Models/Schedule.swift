import Foundation

public enum Schedule: String, Codable, CaseIterable, Identifiable, Sendable {
    case daily, weekdays, custom
    public var id: String { rawValue }
    public var title: String { rawValue.capitalized }
}

public struct Reminder: Codable, Hashable, Sendable {
    public var hour: Int
    public var minute: Int
    public var isEnabled: Bool = true

    public init(hour: Int, minute: Int, isEnabled: Bool = true) {
        self.hour = hour
        self.minute = minute
        self.isEnabled = isEnabled
    }

    public var title: String { String(format: "%02d:%02d", hour, minute) }
}
