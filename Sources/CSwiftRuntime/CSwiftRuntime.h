/// What Swift's runtime exports and the language has no name for; nothing on Apple's platforms, which do without.

#pragma clang assume_nonnull begin

/// Retains an object of Swift, unless its deinitialiser has begun: what loading a `weak var` does with the object that its
/// side table names. The object's memory must still be there, as an `unowned` reference sees to.
///
/// Returns: the object; a null pointer if it has begun.
void *_Nullable moult_retain_if_alive(void *object);

#pragma clang assume_nonnull end
