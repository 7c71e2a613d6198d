// An import's plan as people read it.

const SIGNS = { create: '+', update: '~', delete: '-' }
const COLOURS = { create: 32, update: 33, delete: 31, warning: 35 }
const LONGEST = 200

/** A line a change, its fields below it, and the warnings. */
export function linesOf({ changes, warnings }, isColoured) {
  const paint = (kind, text) => (isColoured ? `\x1b[${COLOURS[kind]}m${text}\x1b[0m` : text)
  return [
    ...changes.flatMap(change => [
      paint(change.action, `${SIGNS[change.action]} ${titleOf(change)}`),
      ...Object.entries(change.fields).map(([name, field]) => `    ${name}: ${fieldText(change.action, field)}`),
    ]),
    ...warnings.map(({ path, message }) => paint('warning', `! ${plain(path)}: ${plain(message)}`)),
  ]
}

/** A project has its alert settings once: they have no other name. */
function titleOf({ resource, key }) {
  const kind = resource.replaceAll('_', ' ')
  return kind === key ? kind : `${kind} ${plain(key)}`
}

/** One sentence. */
export function summaryOf(result, isDone = false) {
  const { create, update, delete: gone, unchanged, extra } = result
  const counts = isDone
    ? `${create} created, ${update} changed, ${gone} deleted`
    : `${create} to create, ${update} to change, ${gone} to delete`
  const others = extra === 0 ? '' : `; ${extra} that the file does not name stay (--prune deletes them)`
  return `${counts}; ${unchanged} as they should be${others}.`
}

function fieldText(action, { from, to, is_secret }) {
  if (is_secret) return 'another secret'
  return action === 'create' ? valueText(to) : `${valueText(from)} → ${valueText(to)}`
}

function valueText(value) {
  const text = typeof value === 'string' && value !== '' ? plain(value) : plain(JSON.stringify(value))
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

/** What others wrote must not steer the terminal. */
export const plain = text =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, sign =>
    JSON.stringify(sign)
      .slice(1, -1)
      .replace(/^[\x7f-\x9f]$/, '?'),
  )
