import t from 'tap'
import { places, sources } from './source.ts'

const program = sources('control-plane', 'probe-agent', 'shared', 'deploy', 'tools')

/** Other spellings of `MAX_…`, `MIN_…` and `…TIMEOUT_MS`. `LIMITS` is a table, and `…_LIMITS` one of a subject. */
const CONSTANTS =
  /\b(?:const|let) (?:[A-Z\d]+_)*(?:LARGEST|LONGEST|MOST|MAXIMUM|GREATEST|SMALLEST|SHORTEST|LEAST|MINIMUM|PATIENCE|LIMIT)(?:_(?:MS|S|US|BYTES|COUNT|PAUSE|WAIT|SHARE|RANGE|DELAY)\w*)?\b|\b(?:const|let) [A-Z\d_]+_MAX(?:_[A-Z\d]+)*\b/g
/** Other spellings of `max…` in names of values. `most.length` is a word of its own. */
const MAXIMA = /\b(?:most|longest|largest)[A-Z]\w*\b/g
/** Other spellings of `max…` and `…TimeoutMs` in names of values. */
const VALUES = new RegExp(`${MAXIMA.source}|\\b(?:patience\\w*|limit(?:Ms|Bytes)|\\w*TimeLimitMs)\\b`, 'g')

t.test('a maximum is called MAX_…, and a time limit …TIMEOUT_MS', async t => {
  t.same(
    [...program, ...sources('test')].flatMap(file => places(file, CONSTANTS)),
    [],
  )
})

t.test('values of maxima and time limits are called max… and …TimeoutMs', async t => {
  t.same(
    program.flatMap(file => places(file, VALUES)),
    [],
  )
  // the oracle computes limits, such as `limitMs`
  t.same(
    sources('test').flatMap(file => (file.path.startsWith('test/rules/') ? [] : places(file, MAXIMA))),
    [],
  )
})

t.test('the spellings of limits are found', async t => {
  const find = (code: string, pattern: RegExp) => places({ path: 'a.ts', text: code, code }, pattern).length
  const refused = [
    'MOST_US',
    'LARGEST_BYTES',
    'PATIENCE',
    'READ_LIMIT_MS',
    'LIMIT',
    'STREAM_MAX_AGE_MS',
    'UNREAD_LIMIT',
  ]
  const accepted = ['MAX_BYTES', 'READ_TIMEOUT_MS', 'LIMITS', 'MAIL_LIMITS', 'LIMIT_CODES', 'MIN_PAUSE_MS']
  t.same(
    refused.filter(name => find(`const ${name} = 1`, CONSTANTS) === 0),
    [],
  )
  t.same(
    accepted.filter(name => find(`const ${name} = 1`, CONSTANTS) > 0),
    [],
  )
  t.equal(find('f(mostWaiting, patienceMs, limitMs, maxBytes, readTimeoutMs)', VALUES), 3)
})
