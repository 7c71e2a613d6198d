/** The overview of the dashboard. */
export const HOME_PATH = '/'

/** Returns the path to show after signing in: a path of this installation, or the overview for anything else. */
export function parseReturnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > 2_000) return HOME_PATH
  // browsers read a backslash as a slash, and drop tabs and line breaks
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) || wanted.includes('\\')) return HOME_PATH
  return wanted
}
