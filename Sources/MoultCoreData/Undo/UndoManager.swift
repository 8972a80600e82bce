#if !canImport(Darwin)
    import Foundation

    /// A stack of actions that take changes back: Foundation's `UndoManager`, which Linux does not have.
    ///
    /// Use it on one thread at a time. Actions are gathered in groups; ``undo()`` runs those of the last group, newest
    /// first, and what they register becomes the group that ``redo()`` runs.
    ///
    /// Linux has no run loop that every program runs. With ``groupsByEvent``, a group is opened by the first action, and
    /// closed by ``undo()`` or by the context whose changes it holds: `NSManagedObjectContext` closes it at the end of
    /// each `perform`, a main `ModelContext` when the main actor is free.
    ///
    /// Where Foundation raises an exception, this class does not: ``undo()`` closes the groups that are open, and
    /// ``endUndoGrouping()`` without an open group changes nothing.
    open class UndoManager: NSObject, @unchecked Sendable {
        private let lock = NSLock()
        private var held = State()

        fileprivate struct State {
            var undoing: [Group] = []
            var redoing: [Group] = []
            /// Groups that are being filled, the outermost first.
            var open: [Group] = []
            var disabled = 0
            var groupsByEvent = true
            /// Whether the outermost open group was opened by an action.
            var isOfEvent = false
            var levels = 0
            var run: Run?
        }

        fileprivate enum Run { case undo, redo }

        fileprivate struct Group {
            var actions: [Action] = []
            var name = ""
            var isDiscardable = false
        }

        fileprivate enum Action {
            case call(target: WeakTarget, run: (AnyObject) -> Void)
            case group(Group)

            var isEmpty: Bool { if case .group(let group) = self { group.isEmpty } else { false } }
        }

        fileprivate struct WeakTarget { weak var object: AnyObject? }

        /// A manager with no actions.
        public override init() { super.init() }

        // MARK: - Registering

        /// Adds an action to the innermost open group. If none is open, it opens one (``groupsByEvent``), or the action is
        /// a group by itself.
        ///
        /// - Parameters:
        ///   - target: given to `handler`; it is held weakly, and an action whose target is gone does nothing.
        ///   - handler: takes a change back. What it registers itself can be redone.
        open func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
            let action = Action.call(target: WeakTarget(object: target)) { object in
                if let object = object as? Target { handler(object) }
            }
            let opensGroup = withState { state in
                guard state.disabled == 0 else { return false }
                if state.run == nil { state.redoing = [] }
                guard state.open.isEmpty else {
                    state.open[state.open.count - 1].actions.append(action)
                    return false
                }
                let group = Group(actions: [action])
                state.isOfEvent = state.groupsByEvent
                if state.isOfEvent { state.open = [group] } else { state.undoing.append(group) }
                state.trim()
                return state.isOfEvent
            }
            if opensGroup { post(.NSUndoManagerDidOpenUndoGroup) }
        }

        /// Whether actions are registered: not between ``disableUndoRegistration()`` and ``enableUndoRegistration()``.
        open var isUndoRegistrationEnabled: Bool { withState { $0.disabled == 0 } }
        /// Registers no more actions until ``enableUndoRegistration()`` is called as often.
        open func disableUndoRegistration() {
            checkpoint()
            withState { $0.disabled += 1 }
        }
        /// Ends one ``disableUndoRegistration()``.
        open func enableUndoRegistration() {
            checkpoint()
            withState { $0.disabled = max($0.disabled - 1, 0) }
        }

        /// Forgets all actions, closes all groups, and registers actions again.
        open func removeAllActions() {
            withState { state in
                (state.undoing, state.redoing, state.open) = ([], [], [])
                state.disabled = 0
                state.isOfEvent = false
            }
        }
        /// Forgets the actions of one target.
        open func removeAllActions(withTarget target: Any) {
            let target = target as AnyObject
            withState { state in
                state.undoing = state.undoing.map { $0.without(target) }.filter { !$0.isEmpty }
                state.redoing = state.redoing.map { $0.without(target) }.filter { !$0.isEmpty }
                state.open = state.open.map { $0.without(target) }
            }
        }

        // MARK: - Groups

        /// Whether an action opens a group for the whole event where none is open; true at first.
        open var groupsByEvent: Bool {
            get { withState { $0.groupsByEvent } }
            set { withState { $0.groupsByEvent = newValue } }
        }
        /// The number of open groups.
        open var groupingLevel: Int { withState { $0.open.count } }
        /// The number of groups that ``undo()`` can take back, the newest ones; 0 for any number.
        open var levelsOfUndo: Int {
            get { withState { $0.levels } }
            set {
                withState { state in
                    state.levels = max(newValue, 0)
                    state.trim()
                }
            }
        }

        /// Opens a group; inside another it is undone together with that.
        open func beginUndoGrouping() {
            checkpoint()
            withState { state in
                if state.open.isEmpty, state.groupsByEvent, state.run == nil {
                    state.open = [Group()]
                    state.isOfEvent = true
                }
                state.open.append(Group())
            }
            post(.NSUndoManagerDidOpenUndoGroup)
        }

        /// Closes the innermost open group.
        open func endUndoGrouping() {
            checkpoint()
            close()
        }

        /// Closes the group that actions have opened by themselves.
        package func endEvent() {
            let isOpen = withState { $0.isOfEvent && $0.open.count == 1 && $0.run == nil }
            if isOpen { close() }
        }

        private func close() {
            guard groupingLevel > 0 else { return }
            post(.NSUndoManagerWillCloseUndoGroup)
            withState { state in
                guard let group = state.open.popLast() else { return }
                if state.open.isEmpty {
                    state.isOfEvent = false
                    if group.isEmpty { return }
                    if state.run == .undo { state.redoing.append(group) } else { state.undoing.append(group) }
                    state.trim()
                } else if !group.isEmpty {
                    state.open[state.open.count - 1].add(group)
                }
            }
            post(.NSUndoManagerDidCloseUndoGroup)
        }

        // MARK: - Undoing

        /// Whether there is anything to undo.
        open var canUndo: Bool {
            checkpoint()
            return withState { !$0.undoing.isEmpty || $0.open.contains { !$0.isEmpty } }
        }
        /// Whether there is anything to redo.
        open var canRedo: Bool {
            checkpoint()
            return withState { !$0.redoing.isEmpty }
        }
        /// The number of groups that can be undone.
        open var undoCount: Int { withState { $0.undoing.count } }
        /// The number of groups that can be redone.
        open var redoCount: Int { withState { $0.redoing.count } }
        /// Whether ``undo()`` is at work.
        open var isUndoing: Bool { withState { $0.run == .undo } }
        /// Whether ``redo()`` is at work.
        open var isRedoing: Bool { withState { $0.run == .redo } }

        /// Closes the groups that are open, and takes the last group back.
        open func undo() {
            checkpoint()
            while groupingLevel > 0 { close() }
            run(.undo)
        }

        /// Takes back the last group inside the open ones, or, where none is open, what ``undo()`` would.
        open func undoNestedGroup() {
            checkpoint()
            let nested = withState { state -> Group? in
                guard let last = state.open.indices.last, case .group(let group)? = state.open[last].actions.last
                else { return nil }
                state.open[last].actions.removeLast()
                return group
            }
            guard let nested else {
                if groupingLevel == 0 { run(.undo) }
                return
            }
            run(.undo, nested)
        }

        /// Does again what the last ``undo()`` took back.
        open func redo() {
            checkpoint()
            run(.redo)
        }

        private func run(_ run: Run) {
            let group = withState { run == .undo ? $0.undoing.popLast() : $0.redoing.popLast() }
            if let group { self.run(run, group) }
        }

        private func run(_ run: Run, _ group: Group) {
            post(run == .undo ? .NSUndoManagerWillUndoChange : .NSUndoManagerWillRedoChange)
            let outer = withState { state in
                state.run = run
                defer { state.open = [Group(name: group.name, isDiscardable: group.isDiscardable)] }
                return (state.open, state.isOfEvent)
            }
            group.run()
            checkpoint()
            while groupingLevel > 0 { close() }
            withState { state in
                state.run = nil
                (state.open, state.isOfEvent) = outer
            }
            post(run == .undo ? .NSUndoManagerDidUndoChange : .NSUndoManagerDidRedoChange)
        }

        // MARK: - Names

        /// Names the group that is open, or the last one that was closed.
        open func setActionName(_ name: String) { change { $0.name = name } }
        /// The name of what ``undo()`` takes back; empty for none.
        open var undoActionName: String { withState { ($0.open.first ?? $0.undoing.last)?.name ?? "" } }
        /// The name of what ``redo()`` does again; empty for none.
        open var redoActionName: String { withState { $0.redoing.last?.name ?? "" } }
        /// `Undo`, with the name of the group.
        open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
        /// `Redo`, with the name of the group.
        open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
        /// `Undo`, with a name.
        open func undoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Undo" : "Undo \(name)" }
        /// `Redo`, with a name.
        open func redoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Redo" : "Redo \(name)" }

        /// Says that the present group may be discarded, as a change of a view and not of a document may.
        open func setActionIsDiscardable(_ discardable: Bool) { change { $0.isDiscardable = discardable } }
        /// Whether what ``undo()`` takes back may be discarded.
        open var undoActionIsDiscardable: Bool {
            withState { ($0.open.first ?? $0.undoing.last)?.isDiscardable ?? false }
        }
        /// Whether what ``redo()`` does again may be discarded.
        open var redoActionIsDiscardable: Bool { withState { $0.redoing.last?.isDiscardable ?? false } }

        private func change(_ body: (inout Group) -> Void) {
            checkpoint()
            withState { state in
                if !state.open.isEmpty {
                    body(&state.open[0])
                } else if let last = state.undoing.indices.last {
                    body(&state.undoing[last])
                }
            }
        }

        private func withState<Result>(_ body: (inout State) -> Result) -> Result {
            lock.withLock { body(&held) }
        }

        // MARK: - Notifications

        /// Has those who gather changes register them now.
        private func checkpoint() { post(.NSUndoManagerCheckpoint) }

        private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
    }

    extension UndoManager.State {
        fileprivate mutating func trim() {
            guard levels > 0 else { return }
            undoing.removeFirst(max(undoing.count - levels, 0))
            redoing.removeFirst(max(redoing.count - levels, 0))
        }
    }

    extension UndoManager.Group {
        fileprivate var isEmpty: Bool { actions.allSatisfy(\.isEmpty) }

        /// Takes in a group that was inside this one, which gives it its name.
        fileprivate mutating func add(_ group: Self) {
            if name.isEmpty { name = group.name }
            actions.append(.group(group))
        }

        fileprivate func run() {
            for action in actions.reversed() {
                switch action {
                case .call(let target, let run): if let object = target.object { run(object) }
                case .group(let group): group.run()
                }
            }
        }

        fileprivate func without(_ target: AnyObject) -> Self {
            var group = self
            group.actions = actions.compactMap { action in
                switch action {
                case .call(let held, _): held.object === target ? nil : action
                case .group(let inner): .group(inner.without(target))
                }
            }
            return group
        }
    }

    extension NSNotification.Name {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted before groups are opened, closed or run: who gathers changes registers them now.
        public static let NSUndoManagerCheckpoint = Self("NSUndoManagerCheckpointNotification")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted after a group was opened.
        public static let NSUndoManagerDidOpenUndoGroup = Self("NSUndoManagerDidOpenUndoGroupNotification")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted before a group is closed.
        public static let NSUndoManagerWillCloseUndoGroup = Self("NSUndoManagerWillCloseUndoGroupNotification")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted after a group was closed.
        public static let NSUndoManagerDidCloseUndoGroup = Self("NSUndoManagerDidCloseUndoGroupNotification")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted before ``UndoManager/undo()`` runs a group.
        public static let NSUndoManagerWillUndoChange = Self("NSUndoManagerWillUndoChangeNotification")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted after ``UndoManager/undo()`` has run a group.
        public static let NSUndoManagerDidUndoChange = Self("NSUndoManagerDidUndoChangeNotification")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted before ``UndoManager/redo()`` runs a group.
        public static let NSUndoManagerWillRedoChange = Self("NSUndoManagerWillRedoChangeNotification")
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// Posted after ``UndoManager/redo()`` has run a group.
        public static let NSUndoManagerDidRedoChange = Self("NSUndoManagerDidRedoChangeNotification")
    }
#endif
