/** One's own account. */
export const HOME = '/account'

/** Where somebody goes once they are signed in: a path of ours, whatever the address asked for. */
export function returnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > 2_000) return HOME
  // browsers read a backslash as a slash, and drop tabs and line breaks
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return HOME
  return wanted
}
