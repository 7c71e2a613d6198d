// The API calls of the command line, and its error messages.

/** An error that is printed as one sentence, without a stack. */
export class Refusal extends Error {}

/** No answer of Picket has come. `fact`: one sentence; `advice`: what to do when the call changes nothing. */
class NoAnswer extends Refusal {
  constructor(fact, advice) {
    super(`${fact} ${advice}`)
    this.fact = fact
  }
}

const OUTCOME_UNKNOWN = 'It is not known whether the changes were made; run picket plan.'
const TIMEOUT_MS = 120_000

/** A client for the address and key in the environment. Throws a Refusal when one of them is missing or invalid. */
export function createClient({ PICKET_URL = 'http://localhost:8080', PICKET_API_KEY }) {
  const key = parseApiKey(PICKET_API_KEY)
  const api = parseApiUrl(PICKET_URL)
  const ask = (path, request) => send(`${api}${path}`, key, request)
  return {
    /** exports the project as text; `format`: yaml or json */
    async exportProject(format) {
      const text = await ask(`/export?format=${encodeURIComponent(format)}`, {})
      return format === 'json' ? `${JSON.stringify(parseJson(text, api), null, 2)}\n` : text
    },
    /** imports a file; returns the changes, or with `isDryRun` the changes it would make */
    async importFile({ type, text }, { from, prune, isDryRun }) {
      const query = new URLSearchParams({ from, prune, dry_run: isDryRun })
      try {
        const answer = await ask(`/import?${query}`, { method: 'POST', body: text, headers: { 'content-type': type } })
        const { data } = parseJson(answer, api)
        if (!Array.isArray(data?.changes)) throw foreignAnswer(200, new URL(api).origin)
        return data
      } catch (error) {
        if (isDryRun || !(error instanceof NoAnswer)) throw error
        throw new Refusal(`${error.fact} ${OUTCOME_UNKNOWN}`)
      }
    },
  }
}

/** The messages of parseApiKey and parseApiUrl never contain the value, which can be a secret. */
function parseApiKey(value = '') {
  const key = value.trim()
  if (key === '') throw new Refusal('Set PICKET_API_KEY to an API key of the project (svc_…).')
  if (!/^svc_[0-9A-Za-z]+$/.test(key)) throw new Refusal('PICKET_API_KEY is not an API key (svc_…).')
  return key
}

function parseApiUrl(value) {
  const address = value.trim()
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Refusal('PICKET_URL is not a URL such as https://picket.example.com.')
  }
  const { username, password } = new URL(address)
  if (username || password || /[?#]/.test(address)) {
    throw new Refusal('PICKET_URL must not contain a user name, a password, a query or a fragment.')
  }
  return `${address.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`
}

async function send(url, key, { headers, ...request }) {
  const { origin } = new URL(url)
  const answer = await fetch(url, {
    ...request,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { ...headers, authorization: `Bearer ${key}` },
  }).catch(error => {
    const fact = `${origin} does not respond (${formatCause(error)}).`
    const isUnsent = ['ECONNREFUSED', 'ENOTFOUND'].includes(error.cause?.code)
    throw isUnsent ? new Refusal(`${fact} ${CHECK_ADDRESS}`) : new NoAnswer(fact, CHECK_ADDRESS)
  })
  const text = await answer.text().catch(error => {
    throw new NoAnswer(
      `The connection to ${origin} failed before the end of the answer (${formatCause(error)}).`,
      'Run picket plan to see the current state.',
    )
  })
  if (answer.ok && /^application\/(json|yaml)/.test(answer.headers.get('content-type') ?? '')) return text
  const refused = parseError(text)
  throw refused ? new Refusal(formatError(answer.status, refused)) : foreignAnswer(answer.status, origin)
}

const formatCause = error => error.cause?.code ?? error.cause?.message ?? error.message

function parseJson(text, url) {
  try {
    return JSON.parse(text)
  } catch {
    throw foreignAnswer(200, new URL(url).origin)
  }
}

/** The error of an answer of Picket; null for other answers. */
function parseError(text) {
  try {
    const { error } = JSON.parse(text)
    return typeof error.message === 'string' ? error : null
  } catch {
    return null
  }
}

function formatError(status, error) {
  if (error.code === 'unauthorized') {
    if (/base address/.test(error.message)) return `${error.message}. Check PICKET_URL.`
    return 'PICKET_API_KEY is not a valid API key of this server.'
  }
  const details = error.details ?? []
  if (details.length < 2) return `Refused (${status}): ${error.message}.`
  return [`Refused (${status}), nothing was changed:`, ...details.map(({ message }) => `  ${message}`)].join('\n')
}

const CHECK_ADDRESS = 'Check PICKET_URL.'
const foreignAnswer = (status, origin) =>
  new NoAnswer(`${origin} answered ${status}, but not as a Picket server.`, CHECK_ADDRESS)
