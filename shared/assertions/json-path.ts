/** Keys and indexes from the root on. */
export type JsonPath = (string | number)[]

const STEP = /\.([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

/** Parses a path such as `$.a.b[0]['c d']` at the start of a text. Null if there is none. */
export function parseJsonPath(text: string): { path: JsonPath; rest: string } | null {
  if (!text.startsWith('$')) return null
  const path: JsonPath = []
  let end = 1
  for (;;) {
    STEP.lastIndex = end
    const step = STEP.exec(text)
    if (!step) break
    const [, key, index, single, double] = step
    path.push(index !== undefined ? Number(index) : (key ?? unquote((single ?? double)!)))
    end = STEP.lastIndex
  }
  return { path, rest: text.slice(end) }
}

const unquote = (text: string) => text.replace(/\\(.)/g, '$1')

/** The value at the path, or undefined. Own properties only, so `__proto__` and `constructor` are never found. */
export function resolveJsonPath(root: unknown, path: JsonPath): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    if ((typeof step === 'number') !== Array.isArray(value)) return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}
