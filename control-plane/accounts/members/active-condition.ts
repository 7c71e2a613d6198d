/**
 * SQL: the membership `m` gives access to its organization: the address is proven or need not be, and the membership is not
 * suspended (docs/design/accounts.md#access-review).
 */
export const IS_ACTIVE_MEMBERSHIP = 'NOT m.awaits_proof AND m.suspended_at IS NULL'
