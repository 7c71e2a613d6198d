/** How long a change of many monitors can be undone. The clock of the page can be 5 s late. */
export const UNDO_MS = 35_000
