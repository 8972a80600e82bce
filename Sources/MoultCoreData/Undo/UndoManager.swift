#if !canImport(Darwin)
    import Foundation

    /// A stack of actions that undo changes: Foundation's `UndoManager`, which does not exist on Linux.
    ///
    /// Use it on one thread at a time. Actions are collected in groups. ``undo()`` runs the actions of the last group,
    /// newest first; the actions that they register form the group that ``redo()`` runs.
    ///
    /// Linux has no run loop that every program runs. With ``groupsByEvent``, the first action opens a group, and
    /// ``undo()`` or the context with the changes closes it: `NSManagedObjectContext` at the end of each `perform`, a
    /// main `ModelContext` when the main actor is free.
    ///
    /// This class never raises Foundation's exceptions: ``undo()`` closes any open groups, and ``endUndoGrouping()``
    /// without an open group does nothing.
    open class UndoManager: NSObject, @unchecked Sendable {
        private let lock = NSLock()
        private var held = State()

        fileprivate struct State {
            var undoing: [Group] = []
            var redoing: [Group] = []
            /// The open groups, outermost first.
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

        /// Creates a manager without actions.
        public override init() { super.init() }

        // MARK: - Registering

        /// Adds an action to the innermost open group. If none is open, the action opens one (``groupsByEvent``), or
        /// forms a group of its own.
        ///
        /// - Parameters:
        ///   - target: the object passed to `handler`. It is held weakly; an action without its target does nothing.
        ///   - handler: undoes a change. Any action that it registers can be redone.
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

        /// Whether actions are registered: false between ``disableUndoRegistration()`` and
        /// ``enableUndoRegistration()``.
        open var isUndoRegistrationEnabled: Bool { withState { $0.disabled == 0 } }
        /// Stops registering actions until a matching call of ``enableUndoRegistration()``.
        open func disableUndoRegistration() {
            checkpoint()
            withState { $0.disabled += 1 }
        }
        /// Balances one ``disableUndoRegistration()``.
        open func enableUndoRegistration() {
            checkpoint()
            withState { $0.disabled = max($0.disabled - 1, 0) }
        }

        /// Removes all actions, closes all groups, and enables registration.
        open func removeAllActions() {
            withState { state in
                (state.undoing, state.redoing, state.open) = ([], [], [])
                state.disabled = 0
                state.isOfEvent = false
            }
        }
        /// Removes the actions of one target.
        open func removeAllActions(withTarget target: Any) {
            let target = target as AnyObject
            withState { state in
                state.undoing = state.undoing.map { $0.without(target) }.filter { !$0.isEmpty }
                state.redoing = state.redoing.map { $0.without(target) }.filter { !$0.isEmpty }
                state.open = state.open.map { $0.without(target) }
            }
        }

        // MARK: - Groups

        /// Whether an action without an open group opens one for the whole event; true by default.
        open var groupsByEvent: Bool {
            get { withState { $0.groupsByEvent } }
            set { withState { $0.groupsByEvent = newValue } }
        }
        /// The number of open groups.
        open var groupingLevel: Int { withState { $0.open.count } }
        /// The maximum number of groups that can be undone, the newest ones; 0 for no limit.
        open var levelsOfUndo: Int {
            get { withState { $0.levels } }
            set {
                withState { state in
                    state.levels = max(newValue, 0)
                    state.trim()
                }
            }
        }

        /// Opens a group. A nested group is undone together with the outer one.
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

        /// Closes the group that was opened automatically.
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
        /// Whether ``undo()`` is running.
        open var isUndoing: Bool { withState { $0.run == .undo } }
        /// Whether ``redo()`` is running.
        open var isRedoing: Bool { withState { $0.run == .redo } }

        /// Closes the open groups and undoes the last group.
        open func undo() {
            checkpoint()
            while groupingLevel > 0 { close() }
            run(.undo)
        }

        /// Undoes the last group nested in the open one. If no group is open, does the same as ``undo()``.
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

        /// Redoes the last undone group.
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

        /// Names the open group, or the last closed one.
        open func setActionName(_ name: String) { change { $0.name = name } }
        /// The name of the group that ``undo()`` would undo; empty if there is none.
        open var undoActionName: String { withState { ($0.open.first ?? $0.undoing.last)?.name ?? "" } }
        /// The name of the group that ``redo()`` would redo; empty if there is none.
        open var redoActionName: String { withState { $0.redoing.last?.name ?? "" } }
        /// `Undo`, with the name of the group.
        open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
        /// `Redo`, with the name of the group.
        open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
        /// Returns `Undo`, followed by a name.
        open func undoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Undo" : "Undo \(name)" }
        /// Returns `Redo`, followed by a name.
        open func redoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Redo" : "Redo \(name)" }

        /// Sets whether the current group may be discarded, as for a change of a view rather than of a document.
        open func setActionIsDiscardable(_ discardable: Bool) { change { $0.isDiscardable = discardable } }
        /// Whether the group that ``undo()`` would undo may be discarded.
        open var undoActionIsDiscardable: Bool {
            withState { ($0.open.first ?? $0.undoing.last)?.isDiscardable ?? false }
        }
        /// Whether the group that ``redo()`` would redo may be discarded.
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

        /// Makes the observers that collect changes register them now.
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

        /// Adds a nested group, whose name is used if this group has none.
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
        /// Posted before groups are opened, closed or run. Observers that collect changes register them now.
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
