// Formats the changes of an import for the terminal.

const SIGNS = { create: '+', update: '~', delete: '-' }
const COLOURS = { create: 32, update: 33, delete: 31, warning: 35 }
const MAX_VALUE_LENGTH = 200

/** One line per change, followed by its fields, and the warnings. */
export function formatChanges({ changes, warnings }, isColoured) {
  const paint = (kind, text) => (isColoured ? `\x1b[${COLOURS[kind]}m${text}\x1b[0m` : text)
  return [
    ...changes.flatMap(change => [
      paint(change.action, `${SIGNS[change.action]} ${formatTitle(change)}`),
      ...Object.entries(change.fields).map(([name, field]) => `    ${name}: ${formatField(change.action, field)}`),
    ]),
    ...warnings.map(({ path, message }) => paint('warning', `! ${escapeControls(path)}: ${escapeControls(message)}`)),
  ]
}

/** A project has only one record of alert settings, so it has no other name. */
function formatTitle({ resource, key }) {
  const kind = resource.replaceAll('_', ' ')
  return kind === key ? kind : `${kind} ${escapeControls(key)}`
}

/** A summary in one sentence. */
export function formatSummary(result, isDone = false) {
  const { create, update, delete: gone, unchanged, extra } = result
  const counts = isDone
    ? `${create} created, ${update} changed, ${gone} deleted`
    : `${create} to create, ${update} to change, ${gone} to delete`
  const others = extra === 0 ? '' : `; ${extra} not in the file (use --prune to delete them)`
  return `${counts}; ${unchanged} unchanged${others}.`
}

function formatField(action, { from, to, is_secret }) {
  if (is_secret) return '(secret changed)'
  return action === 'create' ? formatValue(to) : `${formatValue(from)} → ${formatValue(to)}`
}

function formatValue(value) {
  const text = typeof value === 'string' && value !== '' ? escapeControls(value) : escapeControls(JSON.stringify(value))
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text
}

/** A shorter value is not replaced, because it is also part of other texts. */
const MIN_MASKED_LENGTH = 4

/**
 * Returns a function that replaces the values in a text, or in all texts and names of a JSON value, by `${NAME}`: also in
 * their forms in JSON, in a URL and on the terminal. `inserted`: the values by name.
 */
export function createMask(inserted) {
  const forms = [...inserted]
    .filter(([, value]) => value.length >= MIN_MASKED_LENGTH)
    .flatMap(([name, value]) => listForms(value).map(form => [form, `\${${name}}`]))
    .sort(([one], [other]) => other.length - one.length)
  const names = new Map(forms)
  const pattern = new RegExp(forms.map(([form]) => escapePattern(form)).join('|'), 'g')
  const maskText = text => (forms.length === 0 ? text : text.replace(pattern, form => names.get(form)))
  const mask = value => {
    if (typeof value === 'string') return maskText(value)
    if (Array.isArray(value)) return value.map(mask)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [maskText(name), mask(field)]))
  }
  return mask
}

/** The changes with masked names and values. The words of Picket itself, such as "monitor", stay, whatever a value is. */
export function maskChanges({ changes, warnings }, mask) {
  const maskFields = fields =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, maskField(field)]))
  const maskField = field => ({ ...field, from: mask(field.from), to: mask(field.to) })
  return {
    changes: changes.map(change => ({ ...change, key: mask(change.key), fields: maskFields(change.fields) })),
    warnings: warnings.map(mask),
  }
}

const escapePattern = text => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

function listForms(value) {
  const text = value.toWellFormed()
  const inJson = JSON.stringify(value).slice(1, -1)
  return [...new Set([value, inJson, encodeURI(text), encodeURIComponent(text), escapeControls(value)])]
}

/** Escapes control characters, so that texts cannot control the terminal. */
export const escapeControls = text =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, sign =>
    JSON.stringify(sign)
      .slice(1, -1)
      .replace(/^[\x7f-\x9f]$/, '?'),
  )
