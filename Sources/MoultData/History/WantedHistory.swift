import Foundation

/// The part of a history that a predicate can hold for, as far as its bounds say: what is joined by `&&`.
struct WantedHistory {
    /// Tokens after which, or from which on, transactions are wanted.
    private(set) var tokensBefore: [DefaultHistoryToken] = []
    private var tokensBehind: [DefaultHistoryToken] = []
    private var first = Int64.min
    private var last = Int64.max
    private var since = -Double.infinity
    private var until = Double.infinity

    init(_ expression: (any PredicateExpression)?) { (expression as? any HistoryCondition)?.narrow(&self) }

    /// The number of the last transaction of a store that is not wanted, or one before it.
    func after(in store: String) -> Int64 {
        let number = tokensBefore.reduce(first) { max($0, $1.tokenValue?[store] ?? 0) }
        return number > 0 ? number - 1 : 0
    }

    /// The number of the last transaction of a store that is wanted, or one behind it.
    func last(in store: String) -> Int64 { (tokensBehind.compactMap { $0.tokenValue?[store] } + [last]).min() ?? last }

    /// In seconds since 2001-01-01 00:00:00 UTC, both ends included; nil if any will do.
    var timestamps: ClosedRange<Double>? {
        guard since > -.infinity || until < .infinity else { return nil }
        return since <= until ? since...until : since...since
    }

    /// Takes `path operator bound` into account.
    fileprivate mutating func take(_ path: AnyKeyPath, _ bound: Any, isLower: Bool) {
        switch (path, bound) {
        case (\DefaultHistoryTransaction.token, let token as DefaultHistoryToken):
            if isLower { tokensBefore.append(token) } else { tokensBehind.append(token) }
        case (\DefaultHistoryTransaction.transactionIdentifier, let number as Int64):
            if isLower { first = max(first, number) } else { last = min(last, number) }
        case (\DefaultHistoryTransaction.timestamp, let date as Date):
            let seconds = date.timeIntervalSinceReferenceDate
            if isLower { since = max(since, seconds) } else { until = min(until, seconds) }
        default: break
        }
    }
}

/// A part of a predicate about transactions that bounds them.
private protocol HistoryCondition {
    func narrow(_ wanted: inout WantedHistory)
}

extension PredicateExpressions.Conjunction: HistoryCondition {
    fileprivate func narrow(_ wanted: inout WantedHistory) {
        (lhs as? any HistoryCondition)?.narrow(&wanted)
        (rhs as? any HistoryCondition)?.narrow(&wanted)
    }
}

extension PredicateExpressions.Comparison: HistoryCondition {
    fileprivate func narrow(_ wanted: inout WantedHistory) {
        let isGreater = op == .greaterThan || op == .greaterThanOrEqual
        if let path = (lhs as? any HistoryProperty)?.path, let bound = (rhs as? any HistoryBound)?.known {
            wanted.take(path, bound, isLower: isGreater)
        } else if let path = (rhs as? any HistoryProperty)?.path, let bound = (lhs as? any HistoryBound)?.known {
            wanted.take(path, bound, isLower: !isGreater)
        }
    }
}

extension PredicateExpressions.Equal: HistoryCondition {
    fileprivate func narrow(_ wanted: inout WantedHistory) {
        // An equal token need not have anything before it: it is no sign of having read what was saved after it.
        guard let path = (lhs as? any HistoryProperty)?.path, let bound = (rhs as? any HistoryBound)?.known,
            !(bound is DefaultHistoryToken)
        else { return }
        wanted.take(path, bound, isLower: true)
        wanted.take(path, bound, isLower: false)
    }
}

private protocol HistoryProperty {
    var path: AnyKeyPath? { get }
}

extension PredicateExpressions.KeyPath: HistoryProperty {
    fileprivate var path: AnyKeyPath? { root is PredicateExpressions.Variable<Root.Output> ? keyPath : nil }
}

private protocol HistoryBound {
    var known: Any { get }
}

extension PredicateExpressions.Value: HistoryBound {
    fileprivate var known: Any { value }
}
