/** One's own account. */
export const ACCOUNT_PATH = '/account'

/** Where somebody goes once they are signed in: a path of ours, whatever the address asked for. */
export function parseReturnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > 2_000) return ACCOUNT_PATH
  // browsers read a backslash as a slash, and drop tabs and line breaks
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return ACCOUNT_PATH
  return wanted
}
