/** The page of the user's own account. */
export const ACCOUNT_PATH = '/account'

/** Returns the path to show after signing in: a path of this installation, or the account page for anything else. */
export function parseReturnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > 2_000) return ACCOUNT_PATH
  // browsers read a backslash as a slash, and drop tabs and line breaks
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return ACCOUNT_PATH
  return wanted
}
