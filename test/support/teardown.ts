/** The part of a tap test that the support files need: where to put what has to be undone. */
export type Teardown = { teardown(undo: () => unknown): void }
