import tap, { type Test } from 'tap'

/** On `globalThis`, because bundles of one process can have this module more than once. */
const process = globalThis as { testOfFile?: Test }

/** From now on, what test files import as `tap` is this test. */
export function setTestOfFile(t: Test): void {
  process.testOfFile = t
}

const current = () => process.testOfFile ?? tap

/** What test files import as `tap`: the test of the file that is running, or tap itself in a process of one file. */
export const currentTest = new Proxy(tap, {
  get(_, name) {
    const t = current()
    const value = Reflect.get(t, name, t)
    return typeof value === 'function' ? value.bind(t) : value
  },
  set: (_, name, value) => Reflect.set(current(), name, value),
})

/** Registers clean-up functions that run, the last first, when all test files of the process have ended. */
export const processEnd = { teardown: (undo: () => unknown): void => void tap.teardown(undo) }
