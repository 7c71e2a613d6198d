/**
 * SQL: the membership `m` opens its organization. It does not while it waits for its address to be proven, nor while it is
 * suspended (accounts/access).
 */
export const IS_ACTIVE_MEMBERSHIP = 'NOT m.awaits_proof AND m.suspended_at IS NULL'
